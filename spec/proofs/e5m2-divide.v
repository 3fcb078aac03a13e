(* Made by Gappa of e5m2-divide.gappa, SHA-256 fe1ddfa7100a903008342a09b656e7836bd44c4cbdca6de519309e5f845cf1e7. *)
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
Definition f3 := Float2 (1) (-14).
Definition f4 := Float2 (1) (-13).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [6.10352e-05, 0.00012207]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-38).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 7.6294e-06]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 7.6294e-06]) *)
Definition f7 := Float2 (-2097153) (-38).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-7.6294e-06, 7.6294e-06]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-7.6294e-06, 7.6294e-06]) *)
Definition f8 := Float2 (-1) (-17).
Definition f9 := Float2 (1) (-17).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-7.62939e-06, 7.62939e-06]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [6.10352e-05, 0.00012207]) *)
Notation p9 := (BND _t i2). (* BND(t, [6.10352e-05, 0.00012207]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [6.10352e-05, 0.00012207]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [6.10352e-05, 0.00012207]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [6.10352e-05, 0.00012207]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-7.62939e-06, 7.62939e-06]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-38).
Definition f11 := Float2 (1) (-38).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-3.63798e-12, 3.63798e-12]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [6.10352e-05, 0.00012207]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [6.10352e-05, 0.00012207]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-3.63798e-12, 3.63798e-12]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-7.6294e-06, 7.6294e-06]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-7.6294e-06, 7.6294e-06]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 7.6294e-06]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 7.6294e-06]) *).
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
Definition f3 := Float2 (1) (-13).
Definition f4 := Float2 (1) (-12).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.00012207, 0.000244141]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-37).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 1.52588e-05]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 1.52588e-05]) *)
Definition f7 := Float2 (-2097153) (-37).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-1.52588e-05, 1.52588e-05]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-1.52588e-05, 1.52588e-05]) *)
Definition f8 := Float2 (-1) (-16).
Definition f9 := Float2 (1) (-16).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-1.52588e-05, 1.52588e-05]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.00012207, 0.000244141]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.00012207, 0.000244141]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.00012207, 0.000244141]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.00012207, 0.000244141]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.00012207, 0.000244141]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-1.52588e-05, 1.52588e-05]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-37).
Definition f11 := Float2 (1) (-37).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-7.27596e-12, 7.27596e-12]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.00012207, 0.000244141]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.00012207, 0.000244141]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-7.27596e-12, 7.27596e-12]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-1.52588e-05, 1.52588e-05]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-1.52588e-05, 1.52588e-05]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 1.52588e-05]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 1.52588e-05]) *).
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
Definition f3 := Float2 (1) (-12).
Definition f4 := Float2 (1) (-11).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.000244141, 0.000488281]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-36).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 3.05176e-05]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 3.05176e-05]) *)
Definition f7 := Float2 (-2097153) (-36).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-3.05176e-05, 3.05176e-05]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-3.05176e-05, 3.05176e-05]) *)
Definition f8 := Float2 (-1) (-15).
Definition f9 := Float2 (1) (-15).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-3.05176e-05, 3.05176e-05]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.000244141, 0.000488281]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.000244141, 0.000488281]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.000244141, 0.000488281]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.000244141, 0.000488281]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.000244141, 0.000488281]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-3.05176e-05, 3.05176e-05]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-36).
Definition f11 := Float2 (1) (-36).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-1.45519e-11, 1.45519e-11]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.000244141, 0.000488281]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.000244141, 0.000488281]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-1.45519e-11, 1.45519e-11]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-3.05176e-05, 3.05176e-05]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-3.05176e-05, 3.05176e-05]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 3.05176e-05]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 3.05176e-05]) *).
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
Definition f3 := Float2 (1) (-11).
Definition f4 := Float2 (1) (-10).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.000488281, 0.000976562]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-35).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 6.10352e-05]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 6.10352e-05]) *)
Definition f7 := Float2 (-2097153) (-35).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-6.10352e-05, 6.10352e-05]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-6.10352e-05, 6.10352e-05]) *)
Definition f8 := Float2 (-1) (-14).
Definition f9 := Float2 (1) (-14).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-6.10352e-05, 6.10352e-05]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.000488281, 0.000976562]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.000488281, 0.000976562]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.000488281, 0.000976562]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.000488281, 0.000976562]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.000488281, 0.000976562]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-6.10352e-05, 6.10352e-05]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-35).
Definition f11 := Float2 (1) (-35).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-2.91038e-11, 2.91038e-11]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.000488281, 0.000976562]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.000488281, 0.000976562]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-2.91038e-11, 2.91038e-11]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-6.10352e-05, 6.10352e-05]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-6.10352e-05, 6.10352e-05]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 6.10352e-05]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 6.10352e-05]) *).
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
Definition f3 := Float2 (1) (-10).
Definition f4 := Float2 (1) (-9).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.000976562, 0.00195312]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-34).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.00012207]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.00012207]) *)
Definition f7 := Float2 (-2097153) (-34).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.00012207, 0.00012207]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.00012207, 0.00012207]) *)
Definition f8 := Float2 (-1) (-13).
Definition f9 := Float2 (1) (-13).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.00012207, 0.00012207]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.000976562, 0.00195312]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.000976562, 0.00195312]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.000976562, 0.00195312]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.000976562, 0.00195312]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.000976562, 0.00195312]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.00012207, 0.00012207]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-34).
Definition f11 := Float2 (1) (-34).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-5.82077e-11, 5.82077e-11]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.000976562, 0.00195312]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.000976562, 0.00195312]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-5.82077e-11, 5.82077e-11]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.00012207, 0.00012207]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.00012207, 0.00012207]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.00012207]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.00012207]) *).
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
Definition f3 := Float2 (1) (-9).
Definition f4 := Float2 (1) (-8).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.00195312, 0.00390625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-33).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.000244141]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.000244141]) *)
Definition f7 := Float2 (-2097153) (-33).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.000244141, 0.000244141]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.000244141, 0.000244141]) *)
Definition f8 := Float2 (-1) (-12).
Definition f9 := Float2 (1) (-12).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.000244141, 0.000244141]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.00195312, 0.00390625]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.00195312, 0.00390625]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.00195312, 0.00390625]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.00195312, 0.00390625]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.00195312, 0.00390625]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.000244141, 0.000244141]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-33).
Definition f11 := Float2 (1) (-33).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-1.16415e-10, 1.16415e-10]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.00195312, 0.00390625]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.00195312, 0.00390625]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-1.16415e-10, 1.16415e-10]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.000244141, 0.000244141]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.000244141, 0.000244141]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.000244141]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.000244141]) *).
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
Definition f3 := Float2 (1) (-8).
Definition f4 := Float2 (1) (-7).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.00390625, 0.0078125]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-32).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.000488281]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.000488281]) *)
Definition f7 := Float2 (-2097153) (-32).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.000488281, 0.000488281]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.000488281, 0.000488281]) *)
Definition f8 := Float2 (-1) (-11).
Definition f9 := Float2 (1) (-11).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.000488281, 0.000488281]) *)
Notation p8 := (ABS _t i2). (* ABS(t, [0.00390625, 0.0078125]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.00390625, 0.0078125]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.00390625, 0.0078125]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.00390625, 0.0078125]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.00390625, 0.0078125]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.000488281, 0.000488281]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-32).
Definition f11 := Float2 (1) (-32).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-2.32831e-10, 2.32831e-10]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.00390625, 0.0078125]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.00390625, 0.0078125]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-2.32831e-10, 2.32831e-10]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.000488281, 0.000488281]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.000488281, 0.000488281]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.000488281]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.000488281]) *).
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
Definition f3 := Float2 (1) (-7).
Definition f4 := Float2 (1) (-6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.0078125, 0.015625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-31).
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
Definition f7 := Float2 (-2097153) (-31).
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
Notation p8 := (ABS _t i2). (* ABS(t, [0.0078125, 0.015625]) *)
Notation p9 := (BND _t i2). (* BND(t, [0.0078125, 0.015625]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [0.0078125, 0.015625]) *).
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
Lemma l9 : s1 -> p9 (* BND(t, [0.0078125, 0.015625]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [0.0078125, 0.015625]) *).
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
Definition f10 := Float2 (-1) (-31).
Definition f11 := Float2 (1) (-31).
Definition i6 := makepairF f10 f11.
Notation p10 := (BND r12 i6). (* BND(t - x / s, [-4.65661e-10, 4.65661e-10]) *)
Notation p11 := (ABS r3 i2). (* ABS(x / s, [0.0078125, 0.015625]) *)
Lemma t4 : p2 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i2 i2 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p11 (* ABS(x / s, [0.0078125, 0.015625]) *).
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
Lemma l12 : s1 -> p10 (* BND(t - x / s, [-4.65661e-10, 4.65661e-10]) *).
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
Definition f3 := Float2 (1) (-6).
Definition f4 := Float2 (1) (-5).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.015625, 0.03125]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-30).
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
Definition f7 := Float2 (-2097153) (-30).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.00195312, 0.00195312]) *).
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
Definition f3 := Float2 (1) (-5).
Definition f4 := Float2 (1) (-4).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.03125, 0.0625]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-29).
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
Definition f7 := Float2 (-2097153) (-29).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.00390625, 0.00390625]) *).
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
Definition f3 := Float2 (1) (-4).
Definition f4 := Float2 (1) (-3).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.0625, 0.125]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-28).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.0078125]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.0078125]) *)
Definition f7 := Float2 (-2097153) (-28).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.0078125, 0.0078125]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.0078125, 0.0078125]) *)
Definition f8 := Float2 (-1) (-7).
Definition f9 := Float2 (1) (-7).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.0078125, 0.0078125]) *)
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.0078125, 0.0078125]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.0078125, 0.0078125]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.0078125, 0.0078125]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.0078125]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.0078125]) *).
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
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-27).
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
Definition f7 := Float2 (-2097153) (-27).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.015625, 0.015625]) *).
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
Definition f3 := Float2 (1) (-2).
Definition f4 := Float2 (1) (-1).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.25, 0.5]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-26).
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
Definition f7 := Float2 (-2097153) (-26).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.03125, 0.03125]) *).
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
Definition f3 := Float2 (1) (-1).
Definition f4 := Float2 (1) (0).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [0.5, 1]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-25).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 0.0625]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 0.0625]) *)
Definition f7 := Float2 (-2097153) (-25).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-0.0625, 0.0625]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-0.0625, 0.0625]) *)
Definition f8 := Float2 (-1) (-4).
Definition f9 := Float2 (1) (-4).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-0.0625, 0.0625]) *)
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.0625, 0.0625]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-0.0625, 0.0625]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-0.0625, 0.0625]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 0.0625]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 0.0625]) *).
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
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-24).
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
Definition f7 := Float2 (-2097153) (-24).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.125, 0.125]) *).
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
Definition f3 := Float2 (1) (1).
Definition f4 := Float2 (1) (2).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [2, 4]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-23).
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
Definition f7 := Float2 (-2097153) (-23).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.25, 0.25]) *).
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
Definition f3 := Float2 (1) (2).
Definition f4 := Float2 (1) (3).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [4, 8]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-22).
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
Definition f7 := Float2 (-2097153) (-22).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-0.5, 0.5]) *).
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
Definition f3 := Float2 (1) (3).
Definition f4 := Float2 (1) (4).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [8, 16]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-21).
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
Definition f7 := Float2 (-2097153) (-21).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-1, 1]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f10 := Float2 (-1) (-21).
Definition f11 := Float2 (1) (-21).
Definition i7 := makepairF f10 f11.
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
Definition f3 := Float2 (1) (4).
Definition f4 := Float2 (1) (5).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [16, 32]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-20).
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
Definition f7 := Float2 (-2097153) (-20).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-2, 2]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-20).
Definition f12 := Float2 (1) (-20).
Definition i7 := makepairF f11 f12.
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
Definition f3 := Float2 (1) (5).
Definition f4 := Float2 (1) (6).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [32, 64]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-19).
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
Definition f7 := Float2 (-2097153) (-19).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-4, 4]) *).
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
Definition f3 := Float2 (1) (6).
Definition f4 := Float2 (1) (7).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [64, 128]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-18).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 8]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 8]) *)
Definition f7 := Float2 (-2097153) (-18).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-8, 8]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-8, 8]) *)
Definition f8 := Float2 (-1) (3).
Definition f9 := Float2 (1) (3).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-8, 8]) *)
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-8, 8]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-8, 8]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-8, 8]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 8]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 8]) *).
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
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-17).
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
Definition f7 := Float2 (-2097153) (-17).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-16, 16]) *).
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
Notation r3 := ((_x / _s)%R).
Definition f3 := Float2 (1) (8).
Definition f4 := Float2 (1) (9).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [256, 512]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-16).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 32]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 32]) *)
Definition f7 := Float2 (-2097153) (-16).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-32, 32]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-32, 32]) *)
Definition f8 := Float2 (-1) (5).
Definition f9 := Float2 (1) (5).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-32, 32]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 512]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 512]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [256, 512]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-32, 32]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-16).
Definition f12 := Float2 (1) (-16).
Definition i7 := makepairF f11 f12.
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-32, 32]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-32, 32]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 32]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 32]) *).
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
Definition f3 := Float2 (1) (9).
Definition f4 := Float2 (1) (10).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [512, 1024]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-15).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 64]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 64]) *)
Definition f7 := Float2 (-2097153) (-15).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-64, 64]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-64, 64]) *)
Definition f8 := Float2 (-1) (6).
Definition f9 := Float2 (1) (6).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-64, 64]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 1024]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 1024]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [512, 1024]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 1024]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 1024]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 1024]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-64, 64]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-15).
Definition f12 := Float2 (1) (-15).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-3.05176e-05, 3.05176e-05]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 1024]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 1024]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-3.05176e-05, 3.05176e-05]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-64, 64]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-64, 64]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 64]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 64]) *).
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
Definition f3 := Float2 (1) (10).
Definition f4 := Float2 (1) (11).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [1024, 2048]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-14).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 128]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 128]) *)
Definition f7 := Float2 (-2097153) (-14).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-128, 128]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-128, 128]) *)
Definition f8 := Float2 (-1) (7).
Definition f9 := Float2 (1) (7).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-128, 128]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 2048]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 2048]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [1024, 2048]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 2048]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 2048]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 2048]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-128, 128]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-14).
Definition f12 := Float2 (1) (-14).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-6.10352e-05, 6.10352e-05]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 2048]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 2048]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-6.10352e-05, 6.10352e-05]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-128, 128]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-128, 128]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 128]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 128]) *).
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
Definition f3 := Float2 (1) (11).
Definition f4 := Float2 (1) (12).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [2048, 4096]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-13).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 256]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 256]) *)
Definition f7 := Float2 (-2097153) (-13).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-256, 256]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-256, 256]) *)
Definition f8 := Float2 (-1) (8).
Definition f9 := Float2 (1) (8).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-256, 256]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 4096]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 4096]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [2048, 4096]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 4096]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 4096]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 4096]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-256, 256]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-13).
Definition f12 := Float2 (1) (-13).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-0.00012207, 0.00012207]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 4096]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 4096]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-0.00012207, 0.00012207]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-256, 256]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-256, 256]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 256]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 256]) *).
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
Definition f3 := Float2 (1) (12).
Definition f4 := Float2 (1) (13).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [4096, 8192]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-12).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 512]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 512]) *)
Definition f7 := Float2 (-2097153) (-12).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-512, 512]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-512, 512]) *)
Definition f8 := Float2 (-1) (9).
Definition f9 := Float2 (1) (9).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-512, 512]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 8192]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 8192]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [4096, 8192]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 8192]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 8192]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 8192]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-512, 512]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-12).
Definition f12 := Float2 (1) (-12).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-0.000244141, 0.000244141]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 8192]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 8192]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-0.000244141, 0.000244141]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-512, 512]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-512, 512]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 512]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 512]) *).
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
Definition f3 := Float2 (1) (13).
Definition f4 := Float2 (1) (14).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [8192, 16384]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-11).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 1024]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 1024]) *)
Definition f7 := Float2 (-2097153) (-11).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-1024, 1024]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-1024, 1024]) *)
Definition f8 := Float2 (-1) (10).
Definition f9 := Float2 (1) (10).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-1024, 1024]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 16384]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 16384]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [8192, 16384]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 16384]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 16384]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 16384]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-1024, 1024]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-11).
Definition f12 := Float2 (1) (-11).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-0.000488281, 0.000488281]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 16384]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 16384]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-0.000488281, 0.000488281]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-1024, 1024]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-1024, 1024]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 1024]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 1024]) *).
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
Definition f3 := Float2 (1) (14).
Definition f4 := Float2 (1) (15).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [16384, 32768]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-10).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 2048]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 2048]) *)
Definition f7 := Float2 (-2097153) (-10).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-2048, 2048]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-2048, 2048]) *)
Definition f8 := Float2 (-1) (11).
Definition f9 := Float2 (1) (11).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-2048, 2048]) *)
Definition f10 := Float2 (1) (0).
Definition i6 := makepairF f10 f4.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 32768]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 32768]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [16384, 32768]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 32768]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 32768]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 32768]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-2048, 2048]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f11 := Float2 (-1) (-10).
Definition f12 := Float2 (1) (-10).
Definition i7 := makepairF f11 f12.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-0.000976562, 0.000976562]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 32768]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 32768]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-0.000976562, 0.000976562]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-2048, 2048]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-2048, 2048]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 2048]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 2048]) *).
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
Definition f3 := Float2 (1) (15).
Definition f4 := Float2 (7) (13).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [32768, 57344]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r3).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r7 := ((_y - r3)%R).
Notation r6 := ((Rabs r7)%R).
Definition f5 := Float2 (0) (0).
Definition f6 := Float2 (2097153) (-9).
Definition i3 := makepairF f5 f6.
Notation p3 := (BND r6 i3). (* BND(|y - x / s|, [0, 4096]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r7 i3). (* ABS(y - x / s, [0, 4096]) *)
Definition f7 := Float2 (-2097153) (-9).
Definition i4 := makepairF f7 f6.
Notation p5 := (BND r7 i4). (* BND(y - x / s, [-4096, 4096]) *)
Notation r11 := ((_y - _t)%R).
Notation r12 := ((_t - r3)%R).
Notation r10 := ((r11 + r12)%R).
Notation p6 := (BND r10 i4). (* BND(y - t + (t - x / s), [-4096, 4096]) *)
Definition f8 := Float2 (-1) (12).
Definition f9 := Float2 (1) (12).
Definition i5 := makepairF f8 f9.
Notation p7 := (BND r11 i5). (* BND(y - t, [-4096, 4096]) *)
Definition f10 := Float2 (1) (0).
Definition f11 := Float2 (1) (16).
Definition i6 := makepairF f10 f11.
Notation p8 := (ABS _t i6). (* ABS(t, [1, 65536]) *)
Notation p9 := (BND _t i6). (* BND(t, [1, 65536]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(x / s, [32768, 57344]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i6). (* BND(x / s, [1, 65536]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (float_round_ne _ _ r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(t, [1, 65536]) *).
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
Lemma l8 : s1 -> p8 (* ABS(t, [1, 65536]) *).
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
Lemma l7 : s1 -> p7 (* BND(y - t, [-4096, 4096]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t3. exact h1.
Qed.
Definition f12 := Float2 (-1) (-9).
Definition f13 := Float2 (1) (-9).
Definition i7 := makepairF f12 f13.
Notation p11 := (BND r12 i7). (* BND(t - x / s, [-0.00195312, 0.00195312]) *)
Notation p12 := (ABS r3 i6). (* ABS(x / s, [1, 65536]) *)
Lemma t4 : p10 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_p r3 i6 i6 h0 _) ; finalize.
Qed.
Lemma l13 : s1 -> p12 (* ABS(x / s, [1, 65536]) *).
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
Lemma l12 : s1 -> p11 (* BND(t - x / s, [-0.00195312, 0.00195312]) *).
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
Lemma l6 : s1 -> p6 (* BND(y - t + (t - x / s), [-4096, 4096]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - x / s, [-4096, 4096]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - x / s, [0, 4096]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - x / s|, [0, 4096]) *).
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
Definition f4 := Float2 (1) (-14).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(|x / s|, [0, 6.10352e-05]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r4).
Notation _y := ((rounding_float rndNE (3)%positive (-16)%Z) _t).
Notation r8 := ((_y - _t)%R).
Notation r7 := ((Rabs r8)%R).
Definition f5 := Float2 (1) (-17).
Definition i3 := makepairF f3 f5.
Notation p3 := (BND r7 i3). (* BND(|y - t|, [0, 7.62939e-06]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r8 i3). (* ABS(y - t, [0, 7.62939e-06]) *)
Definition f6 := Float2 (-1) (-17).
Definition i4 := makepairF f6 f5.
Notation p5 := (BND r8 i4). (* BND(y - t, [-7.62939e-06, 7.62939e-06]) *)
Definition f7 := Float2 (1) (-13).
Definition i5 := makepairF f3 f7.
Notation p6 := (ABS _t i5). (* ABS(t, [0, 0.00012207]) *)
Definition f8 := Float2 (-1) (-13).
Definition i6 := makepairF f8 f7.
Notation p7 := (BND _t i6). (* BND(t, [-0.00012207, 0.00012207]) *)
Notation p8 := (BND r4 i6). (* BND(x / s, [-0.00012207, 0.00012207]) *)
Notation p9 := (ABS r4 i5). (* ABS(x / s, [0, 0.00012207]) *)
Lemma l11 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l10 : s1 -> p2 (* BND(|x / s|, [0, 6.10352e-05]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 exact (proj2 h1).
Qed.
Notation p10 := (BND r3 i5). (* BND(|x / s|, [0, 0.00012207]) *)
Lemma t1 : p10 -> p9.
Proof.
 intros h0.
 refine (abs_of_uabs r4 i5 h0 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* ABS(x / s, [0, 0.00012207]) *).
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
Lemma l8 : s1 -> p8 (* BND(x / s, [-0.00012207, 0.00012207]) *).
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
Lemma l7 : s1 -> p7 (* BND(t, [-0.00012207, 0.00012207]) *).
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
Lemma l6 : s1 -> p6 (* ABS(t, [0, 0.00012207]) *).
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
Lemma l5 : s1 -> p5 (* BND(y - t, [-7.62939e-06, 7.62939e-06]) *).
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
Lemma l4 : s1 -> p4 (* ABS(y - t, [0, 7.62939e-06]) *).
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
Lemma l3 : s1 -> p3 (* BND(|y - t|, [0, 7.62939e-06]) *).
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
Definition f4 := Float2 (1) (-14).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r3 i2). (* BND(x / s, [2.35099e-38, 6.10352e-05]) *)
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
Lemma l5 : s1 -> p2 (* BND(x / s, [2.35099e-38, 6.10352e-05]) *).
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
