(* Made by Gappa of e4m3-divide.gappa, SHA-256 03f7576bf06ba021b7a9eeb554b8847b1ab0c6a2b5483fb1da33abb170fd61a7. *)
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-6).
Definition f4 := Float2 (1) (-5).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.015625, 0.03125]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-30).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.000976563]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.000976563]) *)
Definition f7 := Float2 (-1048577) (-30).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.000976563, 0.000976563]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.000976563, 0.000976563]) *)
Definition f8 := Float2 (-1) (-10).
Definition f9 := Float2 (1) (-10).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.000976562, 0.000976562]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.015625, 0.03125]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.015625, 0.03125]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.015625, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.015625, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.015625, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.000976562, 0.000976562]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-30).
Definition f11 := Float2 (1) (-30).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-9.31323e-10, 9.31323e-10]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.015625, 0.03125]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.015625, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-9.31323e-10, 9.31323e-10]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.000976563, 0.000976563]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.000976563, 0.000976563]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.000976563]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.000976563]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-5).
Definition f4 := Float2 (1) (-4).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.03125, 0.0625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-29).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.00195313]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.00195313]) *)
Definition f7 := Float2 (-1048577) (-29).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.00195313, 0.00195313]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.00195313, 0.00195313]) *)
Definition f8 := Float2 (-1) (-9).
Definition f9 := Float2 (1) (-9).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.00195312, 0.00195312]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.03125, 0.0625]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.03125, 0.0625]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.03125, 0.0625]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.03125, 0.0625]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.03125, 0.0625]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.00195312, 0.00195312]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-29).
Definition f11 := Float2 (1) (-29).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-1.86265e-09, 1.86265e-09]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.03125, 0.0625]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.03125, 0.0625]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-1.86265e-09, 1.86265e-09]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.00195313, 0.00195313]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.00195313, 0.00195313]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.00195313]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.00195313]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-4).
Definition f4 := Float2 (1) (-3).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.0625, 0.125]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-28).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.00390625]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.00390625]) *)
Definition f7 := Float2 (-1048577) (-28).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.00390625, 0.00390625]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.00390625, 0.00390625]) *)
Definition f8 := Float2 (-1) (-8).
Definition f9 := Float2 (1) (-8).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.00390625, 0.00390625]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.0625, 0.125]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.0625, 0.125]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.0625, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.0625, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.0625, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.00390625, 0.00390625]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-28).
Definition f11 := Float2 (1) (-28).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-3.72529e-09, 3.72529e-09]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.0625, 0.125]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.0625, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-3.72529e-09, 3.72529e-09]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.00390625, 0.00390625]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.00390625, 0.00390625]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.00390625]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.00390625]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-3).
Definition f4 := Float2 (1) (-2).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.125, 0.25]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-27).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.00781251]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.00781251]) *)
Definition f7 := Float2 (-1048577) (-27).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.00781251, 0.00781251]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.00781251, 0.00781251]) *)
Definition f8 := Float2 (-1) (-7).
Definition f9 := Float2 (1) (-7).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.0078125, 0.0078125]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.125, 0.25]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.125, 0.25]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.125, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.125, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.125, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.0078125, 0.0078125]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-27).
Definition f11 := Float2 (1) (-27).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-7.45058e-09, 7.45058e-09]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.125, 0.25]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.125, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-7.45058e-09, 7.45058e-09]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.00781251, 0.00781251]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.00781251, 0.00781251]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.00781251]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.00781251]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-2).
Definition f4 := Float2 (1) (-1).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.25, 0.5]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-26).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.015625]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.015625]) *)
Definition f7 := Float2 (-1048577) (-26).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.015625, 0.015625]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.015625, 0.015625]) *)
Definition f8 := Float2 (-1) (-6).
Definition f9 := Float2 (1) (-6).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.015625, 0.015625]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.25, 0.5]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.25, 0.5]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.25, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.25, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.25, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.015625, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-26).
Definition f11 := Float2 (1) (-26).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-1.49012e-08, 1.49012e-08]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.25, 0.5]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.25, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-1.49012e-08, 1.49012e-08]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.015625, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.015625, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-1).
Definition f4 := Float2 (1) (0).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.5, 1]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-25).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.03125]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.03125]) *)
Definition f7 := Float2 (-1048577) (-25).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.03125, 0.03125]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.03125, 0.03125]) *)
Definition f8 := Float2 (-1) (-5).
Definition f9 := Float2 (1) (-5).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.03125, 0.03125]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.5, 1]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.5, 1]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.5, 1]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [0.5, 1]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [0.5, 1]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.03125, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-25).
Definition f11 := Float2 (1) (-25).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-2.98023e-08, 2.98023e-08]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.5, 1]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.5, 1]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-2.98023e-08, 2.98023e-08]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.03125, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.03125, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (0).
Definition f4 := Float2 (1) (1).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [1, 2]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-24).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.0625001]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.0625001]) *)
Definition f7 := Float2 (-1048577) (-24).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.0625001, 0.0625001]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.0625001, 0.0625001]) *)
Definition f8 := Float2 (-1) (-4).
Definition f9 := Float2 (1) (-4).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.0625, 0.0625]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [1, 2]) *)
Notation p9 := (BND _t i2). (* BND(t, [1, 2]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [1, 2]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Lemma t1 : p2 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 2]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. exact h1.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i2 i2 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 2]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i2 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.0625, 0.0625]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-24).
Definition f11 := Float2 (1) (-24).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-5.96046e-08, 5.96046e-08]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [1, 2]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [1, 2]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i2 i6 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p10 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i6 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.0625001, 0.0625001]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.0625001, 0.0625001]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.0625001]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.0625001]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (1).
Definition f4 := Float2 (1) (2).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [2, 4]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-23).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.125]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.125]) *)
Definition f7 := Float2 (-1048577) (-23).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.125, 0.125]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.125, 0.125]) *)
Definition f8 := Float2 (-1) (-3).
Definition f9 := Float2 (1) (-3).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.125, 0.125]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 4]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 4]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [2, 4]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 4]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 4]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 4]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.125, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-23).
Definition f12 := Float2 (1) (-23).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-1.19209e-07, 1.19209e-07]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 4]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 4]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-1.19209e-07, 1.19209e-07]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.125, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.125, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.125]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (2).
Definition f4 := Float2 (1) (3).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [4, 8]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-22).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.25]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.25]) *)
Definition f7 := Float2 (-1048577) (-22).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.25, 0.25]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.25, 0.25]) *)
Definition f8 := Float2 (-1) (-2).
Definition f9 := Float2 (1) (-2).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.25, 0.25]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 8]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 8]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [4, 8]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 8]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 8]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 8]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.25, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-22).
Definition f12 := Float2 (1) (-22).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-2.38419e-07, 2.38419e-07]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 8]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 8]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-2.38419e-07, 2.38419e-07]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.25, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.25, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.25]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (3).
Definition f4 := Float2 (1) (4).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [8, 16]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-21).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.5]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.5]) *)
Definition f7 := Float2 (-1048577) (-21).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.5, 0.5]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.5, 0.5]) *)
Definition f8 := Float2 (-1) (-1).
Definition f9 := Float2 (1) (-1).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.5, 0.5]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 16]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 16]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [8, 16]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 16]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 16]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 16]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-21).
Definition f12 := Float2 (1) (-21).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-4.76837e-07, 4.76837e-07]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 16]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 16]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-4.76837e-07, 4.76837e-07]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (4).
Definition f4 := Float2 (1) (5).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [16, 32]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-20).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 1]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 1]) *)
Definition f7 := Float2 (-1048577) (-20).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-1, 1]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-1, 1]) *)
Definition f8 := Float2 (-1) (0).
Definition f9 := Float2 (1) (0).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-1, 1]) *)
Definition i6 := makepairF f9 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 32]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 32]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [16, 32]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 32]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 32]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 32]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-1, 1]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-20).
Definition f11 := Float2 (1) (-20).
Definition i7 := makepairF f10 f11.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-9.53674e-07, 9.53674e-07]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 32]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 32]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-9.53674e-07, 9.53674e-07]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-1, 1]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-1, 1]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 1]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 1]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (5).
Definition f4 := Float2 (1) (6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [32, 64]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-19).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 2]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 2]) *)
Definition f7 := Float2 (-1048577) (-19).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-2, 2]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-2, 2]) *)
Definition f8 := Float2 (-1) (1).
Definition f9 := Float2 (1) (1).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-2, 2]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 64]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 64]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [32, 64]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 64]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 64]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 64]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-2, 2]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-19).
Definition f12 := Float2 (1) (-19).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-1.90735e-06, 1.90735e-06]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 64]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 64]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-1.90735e-06, 1.90735e-06]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-2, 2]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-2, 2]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 2]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 2]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (6).
Definition f4 := Float2 (1) (7).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [64, 128]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-18).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 4]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 4]) *)
Definition f7 := Float2 (-1048577) (-18).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-4, 4]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-4, 4]) *)
Definition f8 := Float2 (-1) (2).
Definition f9 := Float2 (1) (2).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-4, 4]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 128]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 128]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [64, 128]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 128]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 128]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 128]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-4, 4]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-18).
Definition f12 := Float2 (1) (-18).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-3.8147e-06, 3.8147e-06]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 128]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 128]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-3.8147e-06, 3.8147e-06]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-4, 4]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-4, 4]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 4]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 4]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (7).
Definition f4 := Float2 (1) (8).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [128, 256]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-17).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 8.00001]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 8.00001]) *)
Definition f7 := Float2 (-1048577) (-17).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-8.00001, 8.00001]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-8.00001, 8.00001]) *)
Definition f8 := Float2 (-1) (3).
Definition f9 := Float2 (1) (3).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-8, 8]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 256]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 256]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [128, 256]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 256]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 256]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 256]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-8, 8]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-17).
Definition f12 := Float2 (1) (-17).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-7.62939e-06, 7.62939e-06]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 256]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 256]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-7.62939e-06, 7.62939e-06]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-8.00001, 8.00001]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-8.00001, 8.00001]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 8.00001]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 8.00001]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (8).
Definition f4 := Float2 (7) (6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [256, 448]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (1048577) (-16).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 16]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 16]) *)
Definition f7 := Float2 (-1048577) (-16).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-16, 16]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-16, 16]) *)
Definition f8 := Float2 (-1) (4).
Definition f9 := Float2 (1) (4).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-16, 16]) *)
Definition f10 := Float2 (1) (0).
Definition f11 := Float2 (1) (9).
Definition i6 := makepairF f10 f11.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 512]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 512]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [256, 448]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 512]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 512]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (abs_of_bnd_p _t i6 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* ABS(t, [1, 512]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(y - t, [-16, 16]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f12 := Float2 (-1) (-16).
Definition f13 := Float2 (1) (-16).
Definition i7 := makepairF f12 f13.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-1.52588e-05, 1.52588e-05]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 512]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 512]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t4. refine (subset r3 i2 i6 h1 _) ; finalize.
Qed.
Lemma t5 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r3 i6 i7 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-1.52588e-05, 1.52588e-05]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p7 -> p11 -> p6.
Proof.
 intros h0 h1.
 refine (add r11 r12 i5 i7 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-16, 16]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l12 h0).
 apply t6. exact h1. exact h2.
Qed.
Lemma t7 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-16, 16]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t7. exact h1.
Qed.
Lemma t8 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r7 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 16]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t8. exact h1.
Qed.
Lemma t9 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r7 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 16]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t9. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r6 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
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
Definition f4 := Float2 (1) (-6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(|x / s|, [0, 0.015625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r4).
Notation _y := ((rounding_float rndNE (4)%positive (-9)%Z) _t).
Notation r8 := ((_y - _t)%R).
Notation r7 := ((Rabs r8)%R).
Definition f5 := Float2 (1) (-10).
Definition i3 := makepairF f3 f5.
Notation p3 := (BND r7 i3). (* BND(|y - t|, [0, 0.000976562]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r8 i3). (* ABS(y - t, [0, 0.000976562]) *)
Definition f6 := Float2 (-1) (-10).
Definition i4 := makepairF f6 f5.
Notation p5 := (BND r8 i4). (* BND(y - t, [-0.000976562, 0.000976562]) *)
Definition f7 := Float2 (1) (-5).
Definition i5 := makepairF f3 f7.
Notation p6 := (ABS _t i5). (* ABS(t, [0, 0.03125]) *)
Definition f8 := Float2 (-1) (-5).
Definition i6 := makepairF f8 f7.
Notation p7 := (BND _t i6). (* BND(t, [-0.03125, 0.03125]) *)
Notation p8 := (BND r4 i6). (* BND(x / s, [-0.03125, 0.03125]) *)
Notation p9 := (ABS r4 i5). (* ABS(x / s, [0, 0.03125]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(|x / s|, [0, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i5). (* BND(|x / s|, [0, 0.03125]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (abs_of_uabs r4 i5 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* ABS(x / s, [0, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l10 h0).
 apply t1. refine (subset r3 i2 i5 h1 _) ; finalize.
Qed.
Lemma t2 : p9 -> p8.
Proof.
 intros h0.
 refine (bnd_of_abs r4 i5 i6 h0 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* BND(x / s, [-0.03125, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p8 -> p7.
Proof.
 intros h0.
 refine (float_round_ne _ _ r4 i6 i6 h0 _) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(t, [-0.03125, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Lemma t4 : p7 -> p6.
Proof.
 intros h0.
 refine (abs_of_bnd_o _t i6 i5 h0 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* ABS(t, [0, 0.03125]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p6 -> p5.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ _t i5 i4 h0 _) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(y - t, [-0.000976562, 0.000976562]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - t, [0, 0.000976562]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - t|, [0, 0.000976562]) *).
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (-125).
Definition f4 := Float2 (1) (-6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [2.35099e-38, 0.015625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Definition f5 := Float2 (-1) (-24).
Definition f6 := Float2 (1) (-24).
Definition i3 := makepairF f5 f6.
Notation p3 := (REL _t r3 i3). (* REL(t, x / s, [-5.96046e-08, 5.96046e-08]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Definition f7 := Float2 (1) (0).
Definition i4 := makepairF f3 f7.
Notation p4 := (ABS r3 i4). (* ABS(x / s, [2.35099e-38, 1]) *)
Lemma l6 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l5 : s1 -> p2 (* BND(x / s, [2.35099e-38, 0.015625]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 exact (proj2 h1).
Qed.
Notation p5 := (BND r3 i4). (* BND(x / s, [2.35099e-38, 1]) *)
Lemma t1 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i4 i4 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(x / s, [2.35099e-38, 1]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t1. refine (subset r3 i2 i4 h1 _) ; finalize.
Qed.
Lemma t2 : p4 -> p3.
Proof.
 intros h0.
 refine (float_relative_ne _ _ r3 i4 i3 h0 _) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* REL(t, x / s, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t2. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Arel 0%nat 1%nat i3)) Tfalse (Arel 0%nat 1%nat i3) (List.cons _t (List.cons r3 List.nil)) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
