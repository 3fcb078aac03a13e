"""Contracts of pure helpers, for CrossHair: what each returns, and beside it a wrong twin that must be caught.

A contract is a function whose docstring names the conditions before and after in CrossHair's notation. CrossHair runs
it with symbolic arguments: it either confirms every path, or searches within its bounds and finds nothing.
"""

from __future__ import annotations

from fractions import Fraction

from kvspec.contexts import Contexts
from kvspec.keys import encode_block, encode_root
from kvspec.numbers.floats import floor_log2
from kvspec.numbers.groups import Extent, group_of, num_groups
from kvspec.numbers.packing import pack, unpack
from kvspec.numbers.schemes import INT4, SCHEMES, IntegerCodes, Layout
from kvspec.numbers.steps import clip
from kvspec.vocabulary import NO_PARTS, KeyParts, Media, TokenId, World

CODES = IntegerCodes(4, -7, 7, bias=8)


def blocks_for(tokens: int, size: int) -> int:
    """The least number of blocks that hold the tokens.

    pre: 0 <= tokens <= 1000 and 1 <= size <= 64
    post: (__return__ - 1) * size < tokens <= __return__ * size
    """
    return World(1, size).blocks_for(tokens)


def blocks_for_wrong(tokens: int, size: int) -> int:
    """One block too many where the tokens fill the last.

    pre: 0 <= tokens <= 1000 and 1 <= size <= 64
    post: (__return__ - 1) * size < tokens <= __return__ * size
    """
    return tokens // size + 1


def positions(first: int, second: int, size: int) -> bool:
    """Pairs (block, offset) are in the order of their positions: how the model writes positions.

    pre: 0 <= first <= 1000 and 0 <= second <= 1000 and 1 <= size <= 64
    post: __return__
    """
    return (divmod(first, size) < divmod(second, size)) == (first < second)


def positions_wrong(first: int, second: int, size: int) -> bool:
    """Comparing offsets before blocks.

    pre: 0 <= first <= 1000 and 0 <= second <= 1000 and 1 <= size <= 64
    post: __return__
    """
    return ((first % size, first // size) < (second % size, second // size)) == (first < second)


def packing(first: int, second: int, halves: bool) -> bool:
    """Unpacking gives back what was packed, in either layout.

    pre: -7 <= first <= 7 and -7 <= second <= 7
    post: __return__
    """
    layout = Layout.HALVES if halves else Layout.ADJACENT
    return unpack(pack((first, second), CODES, layout), CODES, layout) == [first, second]


def packing_wrong(first: int, second: int, halves: bool) -> bool:
    """The high nibble first.

    pre: -7 <= first <= 7 and -7 <= second <= 7
    post: __return__
    """
    layout = Layout.HALVES if halves else Layout.ADJACENT
    return unpack(pack((first, second), CODES, layout), CODES, layout) == [second, first]


def clipping(code: int, other: int) -> tuple[int, int]:
    """Clipping stays within the codes, keeps them, and keeps the order.

    pre: code <= other
    post: -7 <= __return__[0] <= __return__[1] <= 7
    post: __return__[0] == code or not -7 <= code <= 7
    """
    return clip(code, INT4), clip(other, INT4)


def clipping_wrong(code: int, other: int) -> tuple[int, int]:
    """Wrapping around instead.

    pre: code <= other
    post: -7 <= __return__[0] <= __return__[1] <= 7
    """
    return (code + 7) % 15 - 7, (other + 7) % 15 - 7


def binade(numerator: int, denominator: int) -> int:
    """The exponent of a positive rational.

    pre: 1 <= numerator <= 9 and 1 <= denominator <= 9
    post: Fraction(2) ** __return__ * denominator <= numerator < Fraction(2) ** (__return__ + 1) * denominator
    """
    return floor_log2(Fraction(numerator, denominator))


def binade_wrong(numerator: int, denominator: int) -> int:
    """The difference of the lengths, which is sometimes one too large.

    pre: 1 <= numerator <= 9 and 1 <= denominator <= 9
    post: Fraction(2) ** __return__ * denominator <= numerator < Fraction(2) ** (__return__ + 1) * denominator
    """
    return numerator.bit_length() - denominator.bit_length()


def group(token: int, head: int, channel: int, size: int) -> bool:
    """Every element has a group that exists, the same as its neighbour unless a new group begins between them.

    pre: 0 <= token < 3 and 0 <= head < 2 and 0 <= channel < 63 and size in (32, 64)
    post: __return__
    """
    extent, scheme = Extent(3, 2, 64), SCHEMES[f"int8/group-{size}"]
    found, following = (group_of(token, head, place, extent, scheme) for place in (channel, channel + 1))
    return 0 <= found < num_groups(extent, scheme) and following - found == ((channel + 1) % size == 0)


def group_wrong(token: int, head: int, channel: int, size: int) -> bool:
    """Groups that forget the head.

    pre: 0 <= token < 3 and 0 <= head < 2 and 0 <= channel < 63 and size in (32, 64)
    post: __return__
    """
    scheme = SCHEMES[f"int8/group-{size}"]
    found = group_of(token, 0, channel, Extent(3, 2, 64), scheme)
    return found == group_of(token, head, channel, Extent(3, 2, 64), scheme)


def contexts(left: tuple[int, int], right: tuple[int, int], longer: bool) -> bool:
    """Two histories have one context exactly when they are equal; one is cut to a token unless it is the `longer`.

    pre: all(0 <= token < 3 for token in (*left, *right))
    post: __return__
    """
    trie = Contexts()
    one, two = _ids(left), _ids(right if longer else right[:1])
    return (trie.chain(NO_PARTS, one)[-1] == trie.chain(NO_PARTS, two)[-1]) == (one == two)


def contexts_wrong(left: tuple[int, int], right: tuple[int, int], longer: bool) -> bool:
    """Histories told apart by their last token.

    pre: all(0 <= token < 3 for token in (*left, *right))
    post: __return__
    """
    one, two = _ids(left), _ids(right if longer else right[:1])
    return (one[-1] == two[-1]) == (one == two)


def root_keys(salt: str | None, adapter: str | None, other_salt: str | None, other_adapter: str | None) -> bool:
    """Two roots have one encoding exactly when salts and adapters are equal.

    pre: all(part is None or len(part) <= 2 for part in (salt, adapter, other_salt, other_adapter))
    post: __return__
    """
    left, right = KeyParts(salt, adapter), KeyParts(other_salt, other_adapter)
    return (encode_root(left) == encode_root(right)) == (left == right)


def root_keys_wrong(salt: str | None, adapter: str | None, other_salt: str | None, other_adapter: str | None) -> bool:
    """Parts joined without their types and lengths.

    pre: all(part is None or len(part) <= 2 for part in (salt, adapter, other_salt, other_adapter))
    post: __return__
    """
    joined = (salt or "") + (adapter or "") == (other_salt or "") + (other_adapter or "")
    return joined == ((salt, adapter) == (other_salt, other_adapter))


def block_keys(left: tuple[int, int], right: tuple[int, int], at: int, other_at: int) -> bool:
    """Two blocks have one encoding exactly when their tokens and the places of their media are equal.

    pre: all(0 <= token < 2**32 for token in (*left, *right)) and 0 <= at <= 1 and 0 <= other_at <= 1
    post: __return__
    """
    one, two = encode_block(b"", _ids(left), _image(at), 0), encode_block(b"", _ids(right), _image(other_at), 0)
    return (one == two) == ((*left, at) == (*right, other_at))


def block_keys_wrong(left: tuple[int, int], right: tuple[int, int], at: int, other_at: int) -> bool:
    """Keys that forget where the media stand.

    pre: all(0 <= token < 2**32 for token in (*left, *right)) and 0 <= at <= 1 and 0 <= other_at <= 1
    post: __return__
    """
    one, two = encode_block(b"", _ids(left), _image(0), 0), encode_block(b"", _ids(right), _image(0), 0)
    return (one == two) == ((*left, at) == (*right, other_at))


def _image(position: int) -> KeyParts:
    return KeyParts(media=(Media("image", position),))


def _ids(tokens: tuple[int, ...]) -> list[TokenId]:
    return [TokenId(token) for token in tokens]


CONTRACTS = (
    *((blocks_for, blocks_for_wrong), (positions, positions_wrong), (packing, packing_wrong)),
    *((clipping, clipping_wrong), (binade, binade_wrong), (group, group_wrong), (contexts, contexts_wrong)),
    *((root_keys, root_keys_wrong), (block_keys, block_keys_wrong)),
)
"""Each contract with its wrong twin."""
