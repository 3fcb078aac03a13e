(* Made by Gappa of uint4-divide.gappa, SHA-256 b186a6bd966af6878a9394dc7e8240284897c3ce70201f7aa119721acfba7775. *)
Require Import Gappa.Gappa_library.
Section Generated_by_Gappa.
Variable _ss : R.
Notation _s := ((rounding_float rndNE (24)%positive (-149)%Z) _ss).
Definition f1 := Float2 (1) (-149).
Definition f2 := Float2 (1) (128).
Definition i1 := makepairF f1 f2.
Notation p1 := (BND _s i1). (* BND(s, [1.4013e-45, 3.40282e+38]) *)
Variable _xx : R.
Notation _x := ((rounding_float rndNE (24)%positive (-149)%Z) _xx).
Notation r4 := ((_x / _s)%R).
Notation r3 := ((Rabs r4)%R).
Definition f3 := Float2 (0) (0).
Definition f4 := Float2 (15) (0).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(|x / s|, [0, 15]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r4).
Notation _n := ((rounding_fixed rndNE (0)%Z) _t).
Notation r8 := ((_n - r4)%R).
Notation r7 := ((Rabs r8)%R).
Definition f5 := Float2 (1048577) (-21).
Definition i3 := makepairF f3 f5.
Notation p3 := (BND r7 i3). (* BND(|n - x / s|, [0, 0.5]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r8 i3). (* ABS(n - x / s, [0, 0.5]) *)
Definition f6 := Float2 (-1048577) (-21).
Definition i4 := makepairF f6 f5.
Notation p5 := (BND r8 i4). (* BND(n - x / s, [-0.5, 0.5]) *)
Notation r12 := ((_n - _t)%R).
Notation r13 := ((_t - r4)%R).
Notation r11 := ((r12 + r13)%R).
Notation p6 := (BND r11 i4). (* BND(n - t + (t - x / s), [-0.5, 0.5]) *)
Definition f7 := Float2 (-1) (-1).
Definition f8 := Float2 (1) (-1).
Definition i5 := makepairF f7 f8.
Notation p7 := (BND r12 i5). (* BND(n - t, [-0.5, 0.5]) *)
Lemma t1 : p7.
Proof.
 refine (fixed_error_ne _ _ i5 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(n - t, [-0.5, 0.5]) *).
Proof.
 intros h0.
 apply t1.
Qed.
Definition f9 := Float2 (-1) (-21).
Definition f10 := Float2 (1) (-21).
Definition i6 := makepairF f9 f10.
Notation p8 := (BND r13 i6). (* BND(t - x / s, [-4.76837e-07, 4.76837e-07]) *)
Definition f11 := Float2 (1) (4).
Definition i7 := makepairF f3 f11.
Notation p9 := (ABS r4 i7). (* ABS(x / s, [0, 16]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(|x / s|, [0, 15]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i7). (* BND(|x / s|, [0, 16]) *)
Lemma t2 : p10 -> p9.
Proof.
 intros h0.
 refine (abs_of_uabs r4 i7 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* ABS(x / s, [0, 16]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t2. refine (subset r3 i2 i7 h1 _) ; finalize.
Qed.
Lemma t3 : p9 -> p8.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r4 i7 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* BND(t - x / s, [-4.76837e-07, 4.76837e-07]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t3. exact h1.
Qed.
Lemma t4 : p7 -> p8 -> p6.
Proof.
 intros h0 h1.
 refine (add r12 r13 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(n - t + (t - x / s), [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l8 h0).
 apply t4. exact h1. exact h2.
Qed.
Lemma t5 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(n - x / s, [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r8 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(n - x / s, [0, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t6. exact h1.
Qed.
Lemma t7 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r8 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|n - x / s|, [0, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t7. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r7 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
