(* Made by Gappa of int4-reciprocal.gappa, SHA-256 6af28ccecb69a9aed650131622401feab001f95cb934586d62bb2027a3cf1baf. *)
Require Import Gappa.Gappa_library.
Section Generated_by_Gappa.
Variable _ss : R.
Notation _s := ((rounding_float rndNE (24)%positive (-149)%Z) _ss).
Variable _xx : R.
Notation _x := ((rounding_float rndNE (24)%positive (-149)%Z) _xx).
Notation r3 := ((_x / _s)%R).
Notation r8 := (Float1 (1)).
Notation r7 := ((r8 / _s)%R).
Notation r6 := ((_x * r7)%R).
Hypothesis a1 : (_s <> 0)%R -> r3 = r6.
Lemma b1 : NZR _s -> r3 = r6.
 intros h0.
 apply a1.
 exact h0.
Qed.
Definition f1 := Float2 (1) (-127).
Definition f2 := Float2 (1) (125).
Definition i1 := makepairF f1 f2.
Notation p1 := (BND _s i1). (* BND(s, [5.87747e-39, 4.25353e+37]) *)
Notation r9 := ((Rabs r3)%R).
Definition f3 := Float2 (0) (0).
Definition f4 := Float2 (7) (0).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r9 i2). (* BND(|x / s|, [0, 7]) *)
Definition s2 := (p1 /\ p2).
Notation _m := ((rounding_float rndNE (24)%positive (-149)%Z) r7).
Notation r14 := ((_x * _m)%R).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r14).
Notation _n := ((rounding_fixed rndNE (0)%Z) _t).
Notation r11 := ((_n - r3)%R).
Notation r10 := ((Rabs r11)%R).
Definition f5 := Float2 (70368836452359) (-47).
Definition i3 := makepairF f3 f5.
Notation p3 := (BND r10 i3). (* BND(|n - x / s|, [0, 0.500001]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Definition f6 := Float2 (8388619) (-24).
Definition i4 := makepairF f3 f6.
Notation p4 := (BND r10 i4). (* BND(|n - x / s|, [0, 0.500001]) *)
Notation p5 := (ABS r11 i4). (* ABS(n - x / s, [0, 0.500001]) *)
Definition f7 := Float2 (-8388619) (-24).
Definition i5 := makepairF f7 f6.
Notation p6 := (BND r11 i5). (* BND(n - x / s, [-0.500001, 0.500001]) *)
Notation r17 := ((_n - r14)%R).
Notation r18 := ((r14 - r3)%R).
Notation r16 := ((r17 + r18)%R).
Notation p7 := (BND r16 i5). (* BND(n - x * m + (x * m - x / s), [-0.500001, 0.500001]) *)
Definition f8 := Float2 (-2097153) (-22).
Definition f9 := Float2 (2097153) (-22).
Definition i6 := makepairF f8 f9.
Notation p8 := (BND r17 i6). (* BND(n - x * m, [-0.5, 0.5]) *)
Notation r20 := ((_n - _t)%R).
Notation r21 := ((_t - r14)%R).
Notation r19 := ((r20 + r21)%R).
Notation p9 := (BND r19 i6). (* BND(n - t + (t - x * m), [-0.5, 0.5]) *)
Definition f10 := Float2 (-1) (-1).
Definition f11 := Float2 (1) (-1).
Definition i7 := makepairF f10 f11.
Notation p10 := (BND r20 i7). (* BND(n - t, [-0.5, 0.5]) *)
Lemma t1 : p10.
Proof.
 refine (fixed_error_ne _ _ i7 _) ; finalize.
Qed.
Lemma l9 : s1 -> p10 (* BND(n - t, [-0.5, 0.5]) *).
Proof.
 intros h0.
 apply t1.
Qed.
Definition f12 := Float2 (-1) (-22).
Definition f13 := Float2 (1) (-22).
Definition i8 := makepairF f12 f13.
Notation p11 := (BND r21 i8). (* BND(t - x * m, [-2.38419e-07, 2.38419e-07]) *)
Definition f14 := Float2 (1) (3).
Definition i9 := makepairF f3 f14.
Notation p12 := (ABS r14 i9). (* ABS(x * m, [0, 8]) *)
Definition f15 := Float2 (-1) (3).
Definition i10 := makepairF f15 f14.
Notation p13 := (BND r14 i10). (* BND(x * m, [-8, 8]) *)
Definition f16 := Float2 (-7) (0).
Definition i11 := makepairF f16 f4.
Notation p14 := (BND r6 i11). (* BND(x * (1 / s), [-7, 7]) *)
Notation p15 := (BND r3 i11). (* BND(x / s, [-7, 7]) *)
Notation p16 := (ABS r3 i2). (* ABS(x / s, [0, 7]) *)
Lemma l17 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l16 : s1 -> p2 (* BND(|x / s|, [0, 7]) *).
Proof.
 intros h0.
 assert (h1 := l17 h0).
 exact (proj2 h1).
Qed.
Lemma t2 : p2 -> p16.
Proof.
 intros h0.
 refine (abs_of_uabs r3 i2 h0 _) ; finalize.
Qed.
Lemma l15 : s1 -> p16 (* ABS(x / s, [0, 7]) *).
Proof.
 intros h0.
 assert (h1 := l16 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p16 -> p15.
Proof.
 intros h0.
 refine (bnd_of_abs r3 i2 i11 h0 _) ; finalize.
Qed.
Lemma l14 : s1 -> p15 (* BND(x / s, [-7, 7]) *).
Proof.
 intros h0.
 assert (h1 := l15 h0).
 apply t3. exact h1.
Qed.
Definition i12 := makepairF f3 f3.
Notation p17 := (REL r3 r6 i12). (* REL(x / s, x * (1 / s), [0, 0]) *)
Notation p18 := (r3 = r6). (* EQL(x / s, x * (1 / s)) *)
Notation p19 := (NZR _s). (* NZR(s) *)
Notation p20 := (ABS _s i1). (* ABS(s, [5.87747e-39, 4.25353e+37]) *)
Lemma l22 : s1 -> p1 (* BND(s, [5.87747e-39, 4.25353e+37]) *).
Proof.
 intros h0.
 assert (h1 := l17 h0).
 exact (proj1 h1).
Qed.
Lemma t4 : p1 -> p20.
Proof.
 intros h0.
 refine (abs_of_bnd_p _s i1 i1 h0 _) ; finalize.
Qed.
Lemma l21 : s1 -> p20 (* ABS(s, [5.87747e-39, 4.25353e+37]) *).
Proof.
 intros h0.
 assert (h1 := l22 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p20 -> p19.
Proof.
 intros h0.
 refine (nzr_of_abs _s i1 h0 _) ; finalize.
Qed.
Lemma l20 : s1 -> p19 (* NZR(s) *).
Proof.
 intros h0.
 assert (h1 := l21 h0).
 apply t5. exact h1.
Qed.
Lemma t6 : p19 -> p18.
Proof.
 intros h0.
 refine (b1 h0) ; finalize.
Qed.
Lemma l19 : s1 -> p18 (* EQL(x / s, x * (1 / s)) *).
Proof.
 intros h0.
 assert (h1 := l20 h0).
 apply t6. exact h1.
Qed.
Notation p21 := (REL r6 r6 i12). (* REL(x * (1 / s), x * (1 / s), [0, 0]) *)
Lemma t7 : p21.
Proof.
 refine (rel_refl r6 i12 _) ; finalize.
Qed.
Lemma l23 : s1 -> p21 (* REL(x * (1 / s), x * (1 / s), [0, 0]) *).
Proof.
 intros h0.
 apply t7.
Qed.
Lemma t8 : p18 -> p21 -> p17.
Proof.
 intros h0 h1.
 refine (rel_rewrite_1 r3 r6 r6 i12 h0 h1) ; finalize.
Qed.
Lemma l18 : s1 -> p17 (* REL(x / s, x * (1 / s), [0, 0]) *).
Proof.
 intros h0.
 assert (h1 := l19 h0).
 assert (h2 := l23 h0).
 apply t8. exact h1. exact h2.
Qed.
Lemma t9 : p15 -> p17 -> p14.
Proof.
 intros h0 h1.
 refine (bnd_of_rel_bnd_o r3 r6 i11 i12 i11 h0 h1 _) ; finalize.
Qed.
Lemma l13 : s1 -> p14 (* BND(x * (1 / s), [-7, 7]) *).
Proof.
 intros h0.
 assert (h1 := l14 h0).
 assert (h2 := l18 h0).
 apply t9. exact h1. exact h2.
Qed.
Definition f17 := Float2 (-1) (-24).
Definition f18 := Float2 (1) (-24).
Definition i13 := makepairF f17 f18.
Notation p22 := (REL r14 r6 i13). (* REL(x * m, x * (1 / s), [-5.96046e-08, 5.96046e-08]) *)
Notation p23 := (REL _m r7 i13). (* REL(m, 1 / s, [-5.96046e-08, 5.96046e-08]) *)
Definition f19 := Float2 (1) (-125).
Definition f20 := Float2 (1) (127).
Definition i14 := makepairF f19 f20.
Notation p24 := (ABS r7 i14). (* ABS(1 / s, [2.35099e-38, 1.70141e+38]) *)
Definition f21 := Float2 (1) (0).
Definition i15 := makepairF f21 f21.
Notation p25 := (ABS r8 i15). (* ABS(1, [1, 1]) *)
Notation p26 := (BND r8 i15). (* BND(1, [1, 1]) *)
Lemma t10 : p26.
Proof.
 refine (constant1 _ i15 _) ; finalize.
Qed.
Lemma l28 : s1 -> p26 (* BND(1, [1, 1]) *).
Proof.
 intros h0.
 apply t10.
Qed.
Lemma t11 : p26 -> p25.
Proof.
 intros h0.
 refine (abs_of_bnd_p r8 i15 i15 h0 _) ; finalize.
Qed.
Lemma l27 : s1 -> p25 (* ABS(1, [1, 1]) *).
Proof.
 intros h0.
 assert (h1 := l28 h0).
 apply t11. exact h1.
Qed.
Lemma t12 : p25 -> p20 -> p24.
Proof.
 intros h0 h1.
 refine (div_aa r8 _s i15 i1 i14 h0 h1 _) ; finalize.
Qed.
Lemma l26 : s1 -> p24 (* ABS(1 / s, [2.35099e-38, 1.70141e+38]) *).
Proof.
 intros h0.
 assert (h1 := l27 h0).
 assert (h2 := l21 h0).
 apply t12. exact h1. exact h2.
Qed.
Lemma t13 : p24 -> p23.
Proof.
 intros h0.
 refine (float_relative_ne _ _ r7 i14 i13 h0 _) ; finalize.
Qed.
Lemma l25 : s1 -> p23 (* REL(m, 1 / s, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l26 h0).
 apply t13. exact h1.
Qed.
Lemma t14 : p23 -> p22.
Proof.
 intros h0.
 refine (mul_filq _ _m r7 i13 h0) ; finalize.
Qed.
Lemma l24 : s1 -> p22 (* REL(x * m, x * (1 / s), [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l25 h0).
 apply t14. exact h1.
Qed.
Definition f22 := Float2 (-1) (0).
Definition f23 := Float2 (1) (-3).
Definition i16 := makepairF f22 f23.
Notation p27 := (REL r14 r6 i16). (* REL(x * m, x * (1 / s), [-1, 0.125]) *)
Lemma t15 : p14 -> p27 -> p13.
Proof.
 intros h0 h1.
 refine (bnd_of_bnd_rel_o r14 r6 i11 i16 i10 h0 h1 _) ; finalize.
Qed.
Lemma l12 : s1 -> p13 (* BND(x * m, [-8, 8]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 assert (h2 := l24 h0).
 apply t15. exact h1. refine (rel_subset r14 r6 i13 i16 h2 _) ; finalize.
Qed.
Lemma t16 : p13 -> p12.
Proof.
 intros h0.
 refine (abs_of_bnd_o r14 i10 i9 h0 _) ; finalize.
Qed.
Lemma l11 : s1 -> p12 (* ABS(x * m, [0, 8]) *).
Proof.
 intros h0.
 assert (h1 := l12 h0).
 apply t16. exact h1.
Qed.
Lemma t17 : p12 -> p11.
Proof.
 intros h0.
 refine (float_absolute_wide_ne _ _ r14 i9 i8 h0 _) ; finalize.
Qed.
Lemma l10 : s1 -> p11 (* BND(t - x * m, [-2.38419e-07, 2.38419e-07]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 apply t17. exact h1.
Qed.
Lemma t18 : p10 -> p11 -> p9.
Proof.
 intros h0 h1.
 refine (add r20 r21 i7 i8 i6 h0 h1 _) ; finalize.
Qed.
Lemma l8 : s1 -> p9 (* BND(n - t + (t - x * m), [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 assert (h2 := l10 h0).
 apply t18. exact h1. exact h2.
Qed.
Lemma t19 : p9 -> p8.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i6 h0) ; finalize.
Qed.
Lemma l7 : s1 -> p8 (* BND(n - x * m, [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t19. exact h1.
Qed.
Definition f24 := Float2 (-7) (-24).
Definition f25 := Float2 (7) (-24).
Definition i17 := makepairF f24 f25.
Notation p28 := (BND r18 i17). (* BND(x * m - x / s, [-4.17233e-07, 4.17233e-07]) *)
Notation p29 := (REL r14 r3 i13). (* REL(x * m, x / s, [-5.96046e-08, 5.96046e-08]) *)
Notation p30 := (REL r6 r3 i12). (* REL(x * (1 / s), x / s, [0, 0]) *)
Lemma t20 : p18 -> p21 -> p30.
Proof.
 intros h0 h1.
 refine (rel_rewrite_2 r3 r6 r6 i12 h0 h1) ; finalize.
Qed.
Lemma l31 : s1 -> p30 (* REL(x * (1 / s), x / s, [0, 0]) *).
Proof.
 intros h0.
 assert (h1 := l19 h0).
 assert (h2 := l23 h0).
 apply t20. exact h1. exact h2.
Qed.
Lemma t21 : p22 -> p30 -> p29.
Proof.
 intros h0 h1.
 refine (compose r14 r6 r3 i13 i12 i13 h0 h1 _) ; finalize.
Qed.
Lemma l30 : s1 -> p29 (* REL(x * m, x / s, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l24 h0).
 assert (h2 := l31 h0).
 apply t21. exact h1. exact h2.
Qed.
Lemma t22 : p29 -> p15 -> p28.
Proof.
 intros h0 h1.
 refine (error_of_rel_oo r14 r3 i13 i11 i17 h0 h1 _) ; finalize.
Qed.
Lemma l29 : s1 -> p28 (* BND(x * m - x / s, [-4.17233e-07, 4.17233e-07]) *).
Proof.
 intros h0.
 assert (h1 := l30 h0).
 assert (h2 := l14 h0).
 apply t22. exact h1. exact h2.
Qed.
Lemma t23 : p8 -> p28 -> p7.
Proof.
 intros h0 h1.
 refine (add r17 r18 i6 i17 i5 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p7 (* BND(n - x * m + (x * m - x / s), [-0.500001, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l29 h0).
 apply t23. exact h1. exact h2.
Qed.
Lemma t24 : p7 -> p6.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i5 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p6 (* BND(n - x / s, [-0.500001, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t24. exact h1.
Qed.
Lemma t25 : p6 -> p5.
Proof.
 intros h0.
 refine (abs_of_bnd_o r11 i5 i4 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p5 (* ABS(n - x / s, [0, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t25. exact h1.
Qed.
Lemma t26 : p5 -> p4.
Proof.
 intros h0.
 refine (uabs_of_abs r11 i4 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p4 (* BND(|n - x / s|, [0, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t26. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i4) (List.cons r10 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
