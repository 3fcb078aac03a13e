"""The memory checker: every kind of faulty access is found, named and placed, and sound kernels pass."""

from __future__ import annotations

import inspect

import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.tools.tensor_descriptor import TensorDescriptor

from kvoptimized.interpreter import DuplicateStore, MemoryFault, OutOfBounds, Race, UninitialisedRead, memory_checked
from kvoptimized.launch import kernel


@kernel
def copy(SOURCE, TARGET, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(SOURCE + lanes)
    tl.store(TARGET + lanes, values, mask=lanes < n)


@kernel
def scatter(VALUES, INDEX, TARGET, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(TARGET + tl.load(INDEX + lanes), tl.load(VALUES + lanes))


@kernel
def increment(X, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    tl.store(X + lanes, x + 1)


@kernel
def count(X, TOTAL, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(TOTAL + tl.load(X + lanes), 1)


@kernel
def count_then_read(X, TOTAL, RESULT, BLOCK: tl.constexpr):
    tl.atomic_add(TOTAL, 1)
    tl.store(RESULT + tl.program_id(0), tl.load(TOTAL))


def line_of(function, text: str) -> int:
    lines, first = inspect.getsourcelines(function.fn)
    return first + next(index for index, line in enumerate(lines) if text in line)


def test_sound_kernels_pass_and_compute():
    source, target = torch.randn(64), torch.zeros(64)
    with memory_checked(uninitialised=[target]):
        copy[(4,)](source, target, 64, 16)
        copy[(4,)](target, source, 64, 16)
    assert torch.equal(source, target)


def test_a_load_beyond_the_end_names_buffer_element_line_and_program():
    with memory_checked(), pytest.raises(OutOfBounds) as caught:
        copy[(4,)](torch.randn(60), torch.zeros(64), 64, 16)
    fault = caught.value
    assert (fault.kind, fault.buffer, fault.element, fault.lanes, fault.extent) == ("load", "SOURCE", 60, 4, 60)
    assert (fault.place.kernel, fault.place.line) == ("copy", line_of(copy, "tl.load"))
    assert (fault.place.file, fault.place.program) == (__file__, (3, 0, 0))


def test_a_store_before_the_start_is_found():
    index = torch.tensor([0, 1, -1, 2])
    with memory_checked(), pytest.raises(OutOfBounds) as caught:
        scatter[(1,)](torch.randn(4), index, torch.zeros(4), 4)
    assert (caught.value.kind, caught.value.buffer, caught.value.element) == ("store", "TARGET", -1)


def test_a_pointer_that_ends_in_another_buffer_is_still_out_of_bounds():
    both = torch.zeros(8)
    with memory_checked(), pytest.raises(OutOfBounds) as caught:
        scatter[(1,)](torch.randn(4), torch.tensor([0, 1, 4, 2]), both[:4], 4)
    assert caught.value.element == 4


def test_elements_between_the_rows_of_a_view_do_not_belong_to_it():
    view = torch.zeros(4, 8)[:, :4]
    with memory_checked():
        scatter[(1,)](torch.randn(4), torch.tensor([0, 3, 8, 27]), view, 4)
        with pytest.raises(OutOfBounds) as caught:
            scatter[(1,)](torch.randn(4), torch.tensor([0, 3, 8, 12]), view, 4)
    assert caught.value.element == 12


def test_masked_lanes_may_point_anywhere():
    with memory_checked(), pytest.raises(OutOfBounds):
        copy[(2,)](torch.zeros(32), torch.zeros(16), 17, 16)
    with memory_checked():
        copy[(2,)](torch.zeros(32), torch.zeros(16), 16, 16)


def test_reading_what_nothing_has_written_is_found():
    source, target = torch.empty(64), torch.zeros(64)
    with memory_checked(uninitialised=[source]) as check:
        copy[(2,)](target, source, 32, 16)
        copy[(2,)](source, target, 32, 16)
        with pytest.raises(UninitialisedRead) as caught:
            copy[(4,)](source, target, 64, 16)
        check.initialised(source)
        copy[(4,)](source, target, 64, 16)
    fault = caught.value
    assert (fault.buffer, fault.element, fault.index, fault.lanes) == ("SOURCE", 32, (32,), 16)
    assert fault.place.program == (2, 0, 0)


def test_only_the_declared_view_is_unwritten():
    whole = torch.zeros(4, 8)
    with memory_checked(uninitialised=[whole[1:3, 2:]]):
        with pytest.raises(UninitialisedRead) as caught:
            copy[(1,)](whole, torch.zeros(32), 32, 32)
        assert caught.value.index == (1, 2)
        assert caught.value.lanes == 12


def test_two_programs_that_write_the_same_element_race():
    index = torch.tensor([0, 1, 2, 1])
    with memory_checked(), pytest.raises(Race) as caught:
        scatter[(2,)](torch.randn(4), index, torch.zeros(4), 2)
    fault = caught.value
    assert (fault.kind, fault.earlier, fault.other) == ("store", "has stored", (0, 0, 0))
    assert (fault.buffer, fault.index, fault.place.program) == ("TARGET", (1,), (1, 0, 0))


def test_reading_what_another_program_writes_is_a_race_in_either_order():
    with memory_checked(), pytest.raises(Race) as caught:
        increment[(2,)](torch.zeros(8), 8)
    assert (caught.value.kind, caught.value.earlier, caught.value.lanes) == ("load", "has stored", 8)
    overlapping = torch.zeros(8)
    with memory_checked(), pytest.raises(Race) as caught:
        scatter[(2,)](overlapping[:4], torch.tensor([6, 7, 0, 5]), overlapping, 2)
    assert (caught.value.kind, caught.value.earlier, caught.value.other) == ("store", "has loaded", (0, 0, 0))


def test_aliases_of_one_storage_race_too():
    storage = torch.zeros(8)
    with memory_checked(), pytest.raises(Race):
        copy[(2,)](storage, storage[2:], 6, 4)


def test_races_are_looked_for_within_a_launch_and_may_be_switched_off():
    x = torch.zeros(8)
    with memory_checked():
        increment[(1,)](x, 8)
        increment[(1,)](x, 8)
    with memory_checked(races=False):
        increment[(2,)](x, 8)
    assert x.tolist() == [4.0] * 8


def test_atomics_of_several_programs_are_ordered_and_plain_reads_are_not():
    total = torch.zeros(4, dtype=torch.int32)
    with memory_checked():
        count[(4,)](torch.tensor([0, 1, 1, 1, 2, 2, 3, 3]), total, 2)
    assert total.tolist() == [1, 3, 2, 2]
    with memory_checked(), pytest.raises(Race) as caught:
        count_then_read[(2,)](total, total, torch.zeros(2, dtype=torch.int32), 1)
    assert (caught.value.kind, caught.value.earlier) == ("atomic", "has loaded")


def test_two_lanes_of_a_store_with_one_address_are_found():
    with memory_checked(), pytest.raises(DuplicateStore) as caught:
        scatter[(1,)](torch.randn(4), torch.tensor([3, 1, 2, 1]), torch.zeros(4), 4)
    assert (caught.value.buffer, caught.value.index, caught.value.lanes) == ("TARGET", (1,), 2)
    with memory_checked(duplicates=False):
        scatter[(1,)](torch.randn(4), torch.tensor([3, 1, 2, 1]), torch.zeros(4), 4)


@kernel
def store_words(X, step, apart, BLOCK: tl.constexpr):
    first = X.to(tl.pointer_type(tl.int8), bitcast=True) + tl.program_id(0) * apart
    lanes = tl.arange(0, BLOCK)
    tl.store((first + lanes * step).to(tl.pointer_type(tl.int32), bitcast=True), lanes)


def test_words_that_overlap_in_one_store_are_duplicates_whatever_their_addresses():
    x = torch.zeros(32, dtype=torch.int16)
    with memory_checked():
        store_words[(1,)](x, 4, 0, 4)
        with pytest.raises(DuplicateStore) as caught:
            store_words[(1,)](x, 2, 0, 4)
    assert (caught.value.buffer, caught.value.index, caught.value.lanes) == ("X", (0,), 4)


def test_words_of_two_programs_that_overlap_race_whatever_their_addresses():
    x = torch.zeros(32, dtype=torch.int16)
    with memory_checked():
        store_words[(2,)](x, 4, 16, 4)
        with pytest.raises(Race) as caught:
            store_words[(2,)](x, 4, 2, 4)
    assert (caught.value.index, caught.value.lanes, caught.value.other) == ((1,), 4, (0, 0, 0))


def test_a_wide_access_that_ends_between_the_rows_of_a_view_is_out_of_bounds():
    storage = torch.zeros(4, 8, dtype=torch.int16)
    with memory_checked():
        store_words[(1,)](storage[:, :2], 16, 0, 4)
        with pytest.raises(OutOfBounds) as caught:
            store_words[(1,)](storage[:, :1], 16, 0, 2)
    assert (caught.value.element, caught.value.lanes) == (1, 2)


MAKERS = {
    "empty": lambda: torch.empty(8),
    "empty_like": lambda: torch.empty_like(torch.zeros(8)),
    "empty_strided": lambda: torch.empty_strided((8,), (1,)),
    "new_empty": lambda: torch.zeros(1).new_empty(8),
}


@pytest.mark.parametrize("name", MAKERS)
def test_memory_that_torch_makes_in_the_block_is_unwritten_until_it_is_written(name: str):
    source = torch.ones(8)
    with memory_checked():
        made, target = MAKERS[name](), MAKERS[name]()
        copy[(1,)](source, made, 4, 8)
        with pytest.raises(UninitialisedRead) as caught:
            copy[(1,)](made, target, 8, 8)
        assert (caught.value.element, caught.value.lanes) == (4, 4)
        copy[(2,)](source, made, 8, 4)
        copy[(1,)](made, target, 8, 8)
    assert target.tolist() == [1.0] * 8


CHANGES = {
    "fill": lambda x: x.fill_(1),
    "part": lambda x: x[:2].zero_(),
    "copy": lambda x: x.view(2, 4).copy_(torch.ones(2, 4)),
    "out": lambda x: torch.add(torch.ones(8), 1, out=x),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_by_torch_count_as_writing_and_others_are_told(name: str):
    with memory_checked() as check:
        made = torch.empty(8)
        CHANGES[name](made)
        copy[(1,)](made, torch.zeros(8), 8, 8)
        other = torch.empty(8)
        other.numpy()[:] = 1
        with pytest.raises(UninitialisedRead):
            copy[(1,)](other, torch.zeros(8), 8, 8)
        check.initialised(other)
        copy[(1,)](other, torch.zeros(8), 8, 8)


def test_memory_made_before_the_block_or_given_away_and_made_anew_is_not_taken_for_unwritten():
    before = torch.empty(8)
    with memory_checked():
        copy[(1,)](before, torch.zeros(8), 8, 8)
        for count in range(8, 40):
            made = torch.empty(count).fill_(1)
            copy[(1,)](made, torch.zeros(8), 8, 8)
            del made
            copy[(1,)](torch.zeros(64), torch.zeros(8), 8, 8)


@kernel
def masked_total(X, Y, n, BLOCK: tl.constexpr, FILLED: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes, mask=lanes < n, other=0.0 if FILLED else None)
    tl.store(Y, tl.sum(x.to(tl.float32), 0))


@pytest.mark.parametrize("type_", (torch.float32, torch.bfloat16, torch.float8_e4m3fn), ids=str)
def test_masked_lanes_without_a_value_are_not_zero(type_: torch.dtype):
    total = torch.zeros(1)
    with memory_checked():
        masked_total[(1,)](torch.ones(8).to(type_), total, 6, 8, True)
        assert total.item() == 6
        masked_total[(1,)](torch.ones(8).to(type_), total, 6, 8, False)
        assert total.isnan().item()


@kernel
def through_table(TABLE, Y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    pointer = tl.load(TABLE).to(tl.pointer_type(tl.float32))
    tl.store(Y + lanes, tl.load(pointer + lanes))


def test_pointers_kept_in_memory_reach_only_declared_tensors():
    pointee, result = torch.randn(8), torch.zeros(8)
    table = torch.tensor([pointee.data_ptr()])
    with memory_checked(pointees=[pointee]):
        through_table[(1,)](table, result, 8)
    assert torch.equal(result, pointee)
    with memory_checked(), pytest.raises(OutOfBounds, match="an address of no argument"):
        through_table[(1,)](table, result, 8)


@kernel
def as_bytes(X, Y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(Y + lanes, tl.load(X + lanes // 4) + 0)
    pointer = X.to(tl.pointer_type(tl.uint8), bitcast=True)
    tl.store(pointer + lanes, tl.load(pointer + lanes) * 0)


def test_pointers_cast_to_bytes_are_followed_byte_by_byte():
    x, y = torch.arange(4, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    with memory_checked(uninitialised=[y]):
        as_bytes[(1,)](x, y, 16)
    assert y.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert x.tolist() == [0, 0, 0, 0]
    with memory_checked(), pytest.raises(Race):
        as_bytes[(2,)](x, y, 16)


@kernel
def sum_of_two(BUFFERS, Y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(Y + lanes, tl.load(BUFFERS[0] + lanes) + tl.load(BUFFERS[1] + lanes))


def test_buffers_in_tuples_are_named_by_their_place():
    y = torch.zeros(4)
    with memory_checked():
        sum_of_two[(1,)]((torch.ones(4), torch.ones(4)), y, 4)
        with pytest.raises(OutOfBounds) as caught:
            sum_of_two[(1,)]((torch.ones(4), torch.ones(3)), y, 4)
    assert y.tolist() == [2.0] * 4
    assert caught.value.buffer == "BUFFERS[1]"


@kernel
def through_descriptors(SOURCE, X, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    target = tl.make_tensor_descriptor(X, [ROWS, COLUMNS], [COLUMNS, 1], [ROWS, COLUMNS])
    target.store([0, 0], SOURCE.load([0, 0]) + 1)


def test_descriptors_are_followed_too():
    source, target = torch.zeros(3, 16), torch.zeros(4, 16)
    described = TensorDescriptor(source, [3, 16], [16, 1], [4, 16])
    with memory_checked(uninitialised=[target]):
        through_descriptors[(1,)](described, target, 4, 16)
        assert target.tolist() == [[1.0] * 16] * 4
        with pytest.raises(OutOfBounds) as caught:
            through_descriptors[(1,)](described, target[:3], 4, 16)
    assert (caught.value.kind, caught.value.buffer, caught.value.element) == ("store", "X", 48)
    with memory_checked(uninitialised=[source]), pytest.raises(UninitialisedRead) as unwritten:
        through_descriptors[(1,)](described, target, 4, 16)
    assert unwritten.value.buffer == "SOURCE"


def test_a_fault_leaves_memory_as_it_was():
    target = torch.zeros(4)
    with memory_checked(), pytest.raises(MemoryFault):
        scatter[(1,)](torch.ones(4), torch.tensor([0, 1, 2, 9]), target, 4)
    assert target.tolist() == [0.0] * 4


@given(st.lists(st.integers(-2, 9), min_size=8, max_size=8))
@settings(max_examples=60)
def test_a_scatter_faults_exactly_if_its_indices_are_bad(index: list[int]):
    target = torch.zeros(8)
    halves = index[:4], index[4:]
    fault: type[MemoryFault] | None = None
    for number, half in enumerate(halves):
        if len(set(half)) < 4 and all(0 <= i < 8 for i in half):
            fault = fault or DuplicateStore
        if any(not 0 <= i < 8 for i in half):
            fault = fault or OutOfBounds
        if number and set(half) & set(halves[0]):
            fault = fault or Race
    with memory_checked():
        if fault is None:
            scatter[(2,)](torch.ones(8), torch.tensor(index), target, 4)
            assert target.tolist() == [float(i in index) for i in range(8)]
        else:
            with pytest.raises(fault):
                scatter[(2,)](torch.ones(8), torch.tensor(index), target, 4)
