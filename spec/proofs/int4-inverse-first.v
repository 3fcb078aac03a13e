(* Made by Gappa of int4-inverse-first.gappa, SHA-256 fb5c71842ab6a29389071da92d95c83dab1c8339a994cb3317d0add3fd18084a. *)
Require Import Gappa.Gappa_library.
Section Generated_by_Gappa.
Variable _aa : R.
Notation _a := ((rounding_float rndNE (24)%positive (-149)%Z) _aa).
Notation r5 := (Float1 (7)).
Notation r2 := ((_a / r5)%R).
Notation _s := ((rounding_float rndNE (24)%positive (-149)%Z) r2).
Variable _xx : R.
Notation _x := ((rounding_float rndNE (24)%positive (-149)%Z) _xx).
Notation r11 := ((r5 / _a)%R).
Notation _m := ((rounding_float rndNE (24)%positive (-149)%Z) r11).
Notation r7 := ((_x * _m)%R).
Notation r12 := ((_x / _s)%R).
Notation r6 := ((r7 - r12)%R).
Notation r15 := ((_s * _m)%R).
Notation r16 := (Float1 (1)).
Notation r14 := ((r15 - r16)%R).
Notation r13 := ((r12 * r14)%R).
Hypothesis a1 : (_s <> 0)%R -> r6 = r13.
Lemma b1 : NZR _s -> r6 = r13.
 intros h0.
 apply a1.
 exact h0.
Qed.
Notation r20 := ((_s - r2)%R).
Notation r19 := ((r20 / r2)%R).
Notation r22 := ((_m - r11)%R).
Notation r21 := ((r22 / r11)%R).
Notation r18 := ((r19 + r21)%R).
Notation r23 := ((r19 * r21)%R).
Notation r17 := ((r18 + r23)%R).
Hypothesis a2 : (_a <> 0)%R -> r14 = r17.
Lemma b2 : NZR _a -> r14 = r17.
 intros h0.
 apply a2.
 exact h0.
Qed.
Definition f1 := Float2 (1) (-123).
Definition f2 := Float2 (1) (126).
Definition i1 := makepairF f1 f2.
Notation p1 := (BND _a i1). (* BND(a, [9.40395e-38, 8.50706e+37]) *)
Notation r24 := ((Rabs r12)%R).
Definition f3 := Float2 (0) (0).
Definition f4 := Float2 (7) (0).
Definition i2 := makepairF f3 f4.
Notation p2 := (BND r24 i2). (* BND(|x / s|, [0, 7]) *)
Definition s2 := (p1 /\ p2).
Notation _t := ((rounding_float rndNE (24)%positive (-149)%Z) r7).
Notation _n := ((rounding_fixed rndNE (0)%Z) _t).
Notation r26 := ((_n - r12)%R).
Notation r25 := ((Rabs r26)%R).
Definition f5 := Float2 (140737790345223) (-48).
Definition i3 := makepairF f3 f5.
Notation p3 := (BND r25 i3). (* BND(|n - x / s|, [0, 0.500001]) *)
Definition s3 := (not p3).
Definition s1 := (s2 /\ s3).
Lemma l2 : s1 -> s3.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj2 h1).
Qed.
Notation p4 := (ABS r26 i3). (* ABS(n - x / s, [0, 0.500001]) *)
Definition f6 := Float2 (-140737790345223) (-48).
Definition i4 := makepairF f6 f5.
Notation p5 := (BND r26 i4). (* BND(n - x / s, [-0.500001, 0.500001]) *)
Notation r30 := ((_n - r7)%R).
Notation r29 := ((r30 + r6)%R).
Notation p6 := (BND r29 i4). (* BND(n - x * m + (x * m - x / s), [-0.500001, 0.500001]) *)
Definition f7 := Float2 (-2097153) (-22).
Definition f8 := Float2 (2097153) (-22).
Definition i5 := makepairF f7 f8.
Notation p7 := (BND r30 i5). (* BND(n - x * m, [-0.5, 0.5]) *)
Notation r32 := ((_n - _t)%R).
Notation r33 := ((_t - r7)%R).
Notation r31 := ((r32 + r33)%R).
Notation p8 := (BND r31 i5). (* BND(n - t + (t - x * m), [-0.5, 0.5]) *)
Definition f9 := Float2 (-1) (-1).
Definition f10 := Float2 (1) (-1).
Definition i6 := makepairF f9 f10.
Notation p9 := (BND r32 i6). (* BND(n - t, [-0.5, 0.5]) *)
Lemma t1 : p9.
Proof.
 refine (fixed_error_ne _ _ i6 _) ; finalize.
Qed.
Lemma l9 : s1 -> p9 (* BND(n - t, [-0.5, 0.5]) *).
Proof.
 intros h0.
 apply t1.
Qed.
Definition f11 := Float2 (-1) (-22).
Definition f12 := Float2 (1) (-22).
Definition i7 := makepairF f11 f12.
Notation p10 := (BND r33 i7). (* BND(t - x * m, [-2.38419e-07, 2.38419e-07]) *)
Definition f13 := Float2 (15) (-1).
Definition i8 := makepairF f3 f13.
Notation p11 := (ABS _t i8). (* ABS(t, [0, 7.5]) *)
Definition f14 := Float2 (-15) (-1).
Definition i9 := makepairF f14 f13.
Notation p12 := (BND _t i9). (* BND(t, [-7.5, 7.5]) *)
Notation p13 := (BND r7 i9). (* BND(x * m, [-7.5, 7.5]) *)
Notation r34 := ((r12 + r6)%R).
Notation p14 := (BND r34 i9). (* BND(x / s + (x * m - x / s), [-7.5, 7.5]) *)
Definition f15 := Float2 (-7) (0).
Definition i10 := makepairF f15 f4.
Notation p15 := (BND r12 i10). (* BND(x / s, [-7, 7]) *)
Notation p16 := (ABS r12 i2). (* ABS(x / s, [0, 7]) *)
Lemma l18 : s1 -> s2.
Proof.
 intros h0.
 assert (h1 := h0).
 exact (proj1 h1).
Qed.
Lemma l17 : s1 -> p2 (* BND(|x / s|, [0, 7]) *).
Proof.
 intros h0.
 assert (h1 := l18 h0).
 exact (proj2 h1).
Qed.
Lemma t2 : p2 -> p16.
Proof.
 intros h0.
 refine (abs_of_uabs r12 i2 h0 _) ; finalize.
Qed.
Lemma l16 : s1 -> p16 (* ABS(x / s, [0, 7]) *).
Proof.
 intros h0.
 assert (h1 := l17 h0).
 apply t2. exact h1.
Qed.
Lemma t3 : p16 -> p15.
Proof.
 intros h0.
 refine (bnd_of_abs r12 i2 i10 h0 _) ; finalize.
Qed.
Lemma l15 : s1 -> p15 (* BND(x / s, [-7, 7]) *).
Proof.
 intros h0.
 assert (h1 := l16 h0).
 apply t3. exact h1.
Qed.
Definition f16 := Float2 (-234881031) (-48).
Definition f17 := Float2 (234881031) (-48).
Definition i11 := makepairF f16 f17.
Notation p17 := (BND r6 i11). (* BND(x * m - x / s, [-8.34465e-07, 8.34465e-07]) *)
Notation p18 := (r6 = r13). (* EQL(x * m - x / s, x / s * (s * m - 1)) *)
Notation p19 := (NZR _s). (* NZR(s) *)
Notation p20 := (NZR r2). (* NZR(a / 7) *)
Notation p21 := (NZR _a). (* NZR(a) *)
Notation p22 := (ABS _a i1). (* ABS(a, [9.40395e-38, 8.50706e+37]) *)
Lemma l25 : s1 -> p1 (* BND(a, [9.40395e-38, 8.50706e+37]) *).
Proof.
 intros h0.
 assert (h1 := l18 h0).
 exact (proj1 h1).
Qed.
Lemma t4 : p1 -> p22.
Proof.
 intros h0.
 refine (abs_of_bnd_p _a i1 i1 h0 _) ; finalize.
Qed.
Lemma l24 : s1 -> p22 (* ABS(a, [9.40395e-38, 8.50706e+37]) *).
Proof.
 intros h0.
 assert (h1 := l25 h0).
 apply t4. exact h1.
Qed.
Lemma t5 : p22 -> p21.
Proof.
 intros h0.
 refine (nzr_of_abs _a i1 h0 _) ; finalize.
Qed.
Lemma l23 : s1 -> p21 (* NZR(a) *).
Proof.
 intros h0.
 assert (h1 := l24 h0).
 apply t5. exact h1.
Qed.
Notation p23 := (NZR r5). (* NZR(7) *)
Definition f18 := Float2 (1) (2).
Definition i12 := makepairF f18 f4.
Notation p24 := (ABS r5 i12). (* ABS(7, [4, 7]) *)
Notation p25 := (BND r5 i12). (* BND(7, [4, 7]) *)
Lemma t6 : p25.
Proof.
 refine (constant1 _ i12 _) ; finalize.
Qed.
Lemma l28 : s1 -> p25 (* BND(7, [4, 7]) *).
Proof.
 intros h0.
 apply t6.
Qed.
Lemma t7 : p25 -> p24.
Proof.
 intros h0.
 refine (abs_of_bnd_p r5 i12 i12 h0 _) ; finalize.
Qed.
Lemma l27 : s1 -> p24 (* ABS(7, [4, 7]) *).
Proof.
 intros h0.
 assert (h1 := l28 h0).
 apply t7. exact h1.
Qed.
Definition f19 := Float2 (1) (0).
Definition f20 := Float2 (1) (3).
Definition i13 := makepairF f19 f20.
Notation p26 := (ABS r5 i13). (* ABS(7, [1, 8]) *)
Lemma t8 : p26 -> p23.
Proof.
 intros h0.
 refine (nzr_of_abs r5 i13 h0 _) ; finalize.
Qed.
Lemma l26 : s1 -> p23 (* NZR(7) *).
Proof.
 intros h0.
 assert (h1 := l27 h0).
 apply t8. refine (abs_subset r5 i12 i13 h1 _) ; finalize.
Qed.
Lemma t9 : p21 -> p23 -> p20.
Proof.
 intros h0 h1.
 refine (div_nzr _a r5 h0 h1) ; finalize.
Qed.
Lemma l22 : s1 -> p20 (* NZR(a / 7) *).
Proof.
 intros h0.
 assert (h1 := l23 h0).
 assert (h2 := l26 h0).
 apply t9. exact h1. exact h2.
Qed.
Definition f21 := Float2 (-1) (-24).
Definition f22 := Float2 (1) (-24).
Definition i14 := makepairF f21 f22.
Notation p27 := (REL _s r2 i14). (* REL(s, a / 7, [-5.96046e-08, 5.96046e-08]) *)
Definition f23 := Float2 (9) (-129).
Definition f24 := Float2 (1) (124).
Definition i15 := makepairF f23 f24.
Notation p28 := (ABS r2 i15). (* ABS(a / 7, [1.32243e-38, 2.12676e+37]) *)
Lemma t10 : p22 -> p24 -> p28.
Proof.
 intros h0 h1.
 refine (div_aa _a r5 i1 i12 i15 h0 h1 _) ; finalize.
Qed.
Lemma l30 : s1 -> p28 (* ABS(a / 7, [1.32243e-38, 2.12676e+37]) *).
Proof.
 intros h0.
 assert (h1 := l24 h0).
 assert (h2 := l27 h0).
 apply t10. exact h1. exact h2.
Qed.
Lemma t11 : p28 -> p27.
Proof.
 intros h0.
 refine (float_relative_ne _ _ r2 i15 i14 h0 _) ; finalize.
Qed.
Lemma l29 : s1 -> p27 (* REL(s, a / 7, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l30 h0).
 apply t11. exact h1.
Qed.
Definition i16 := makepairF f9 f19.
Notation p29 := (REL _s r2 i16). (* REL(s, a / 7, [-0.5, 1]) *)
Lemma t12 : p20 -> p29 -> p19.
Proof.
 intros h0 h1.
 refine (nzr_of_nzr_rel _s r2 i16 h0 h1 _) ; finalize.
Qed.
Lemma l21 : s1 -> p19 (* NZR(s) *).
Proof.
 intros h0.
 assert (h1 := l22 h0).
 assert (h2 := l29 h0).
 apply t12. exact h1. refine (rel_subset _s r2 i14 i16 h2 _) ; finalize.
Qed.
Lemma t13 : p19 -> p18.
Proof.
 intros h0.
 refine (b1 h0) ; finalize.
Qed.
Lemma l20 : s1 -> p18 (* EQL(x * m - x / s, x / s * (s * m - 1)) *).
Proof.
 intros h0.
 assert (h1 := l21 h0).
 apply t13. exact h1.
Qed.
Notation p30 := (BND r13 i11). (* BND(x / s * (s * m - 1), [-8.34465e-07, 8.34465e-07]) *)
Definition f25 := Float2 (-33554433) (-48).
Definition f26 := Float2 (33554433) (-48).
Definition i17 := makepairF f25 f26.
Notation p31 := (BND r14 i17). (* BND(s * m - 1, [-1.19209e-07, 1.19209e-07]) *)
Notation p32 := (BND r17 i17). (* BND((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [-1.19209e-07, 1.19209e-07]) *)
Definition f27 := Float2 (-1) (-23).
Definition f28 := Float2 (1) (-23).
Definition i18 := makepairF f27 f28.
Notation p33 := (BND r18 i18). (* BND((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a), [-1.19209e-07, 1.19209e-07]) *)
Notation p34 := (BND r19 i14). (* BND((s - a / 7) / (a / 7), [-5.96046e-08, 5.96046e-08]) *)
Lemma t14 : p20 -> p27 -> p34.
Proof.
 intros h0 h1.
 refine (bnd_of_nzr_rel _s r2 i14 h0 h1) ; finalize.
Qed.
Lemma l35 : s1 -> p34 (* BND((s - a / 7) / (a / 7), [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l22 h0).
 assert (h2 := l29 h0).
 apply t14. exact h1. exact h2.
Qed.
Notation p35 := (BND r21 i14). (* BND((m - 7 / a) / (7 / a), [-5.96046e-08, 5.96046e-08]) *)
Notation p36 := (NZR r11). (* NZR(7 / a) *)
Lemma t15 : p23 -> p21 -> p36.
Proof.
 intros h0 h1.
 refine (div_nzr r5 _a h0 h1) ; finalize.
Qed.
Lemma l37 : s1 -> p36 (* NZR(7 / a) *).
Proof.
 intros h0.
 assert (h1 := l26 h0).
 assert (h2 := l23 h0).
 apply t15. exact h1. exact h2.
Qed.
Notation p37 := (REL _m r11 i14). (* REL(m, 7 / a, [-5.96046e-08, 5.96046e-08]) *)
Definition f29 := Float2 (1) (-124).
Definition i19 := makepairF f29 f2.
Notation p38 := (ABS r11 i19). (* ABS(7 / a, [4.70198e-38, 8.50706e+37]) *)
Definition i20 := makepairF f18 f20.
Notation p39 := (ABS r5 i20). (* ABS(7, [4, 8]) *)
Lemma t16 : p39 -> p22 -> p38.
Proof.
 intros h0 h1.
 refine (div_aa r5 _a i20 i1 i19 h0 h1 _) ; finalize.
Qed.
Lemma l39 : s1 -> p38 (* ABS(7 / a, [4.70198e-38, 8.50706e+37]) *).
Proof.
 intros h0.
 assert (h1 := l27 h0).
 assert (h2 := l24 h0).
 apply t16. refine (abs_subset r5 i12 i20 h1 _) ; finalize. exact h2.
Qed.
Lemma t17 : p38 -> p37.
Proof.
 intros h0.
 refine (float_relative_ne _ _ r11 i19 i14 h0 _) ; finalize.
Qed.
Lemma l38 : s1 -> p37 (* REL(m, 7 / a, [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l39 h0).
 apply t17. exact h1.
Qed.
Lemma t18 : p36 -> p37 -> p35.
Proof.
 intros h0 h1.
 refine (bnd_of_nzr_rel _m r11 i14 h0 h1) ; finalize.
Qed.
Lemma l36 : s1 -> p35 (* BND((m - 7 / a) / (7 / a), [-5.96046e-08, 5.96046e-08]) *).
Proof.
 intros h0.
 assert (h1 := l37 h0).
 assert (h2 := l38 h0).
 apply t18. exact h1. exact h2.
Qed.
Lemma t19 : p34 -> p35 -> p33.
Proof.
 intros h0 h1.
 refine (add r19 r21 i14 i14 i18 h0 h1 _) ; finalize.
Qed.
Lemma l34 : s1 -> p33 (* BND((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a), [-1.19209e-07, 1.19209e-07]) *).
Proof.
 intros h0.
 assert (h1 := l35 h0).
 assert (h2 := l36 h0).
 apply t19. exact h1. exact h2.
Qed.
Definition f30 := Float2 (-1) (-48).
Definition f31 := Float2 (1) (-48).
Definition i21 := makepairF f30 f31.
Notation p40 := (BND r23 i21). (* BND((s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [-3.55271e-15, 3.55271e-15]) *)
Lemma t20 : p34 -> p35 -> p40.
Proof.
 intros h0 h1.
 refine (mul_oo r19 r21 i14 i14 i21 h0 h1 _) ; finalize.
Qed.
Lemma l40 : s1 -> p40 (* BND((s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [-3.55271e-15, 3.55271e-15]) *).
Proof.
 intros h0.
 assert (h1 := l35 h0).
 assert (h2 := l36 h0).
 apply t20. exact h1. exact h2.
Qed.
Lemma t21 : p33 -> p40 -> p32.
Proof.
 intros h0 h1.
 refine (add r18 r23 i18 i21 i17 h0 h1 _) ; finalize.
Qed.
Lemma l33 : s1 -> p32 (* BND((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [-1.19209e-07, 1.19209e-07]) *).
Proof.
 intros h0.
 assert (h1 := l34 h0).
 assert (h2 := l40 h0).
 apply t21. exact h1. exact h2.
Qed.
Definition i22 := makepairF f3 f3.
Notation p41 := (REL r14 r17 i22). (* REL(s * m - 1, (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [0, 0]) *)
Notation p42 := (r14 = r17). (* EQL(s * m - 1, (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a))) *)
Lemma t22 : p21 -> p42.
Proof.
 intros h0.
 refine (b2 h0) ; finalize.
Qed.
Lemma l42 : s1 -> p42 (* EQL(s * m - 1, (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a))) *).
Proof.
 intros h0.
 assert (h1 := l23 h0).
 apply t22. exact h1.
Qed.
Notation p43 := (REL r17 r17 i22). (* REL((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [0, 0]) *)
Lemma t23 : p43.
Proof.
 refine (rel_refl r17 i22 _) ; finalize.
Qed.
Lemma l43 : s1 -> p43 (* REL((s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [0, 0]) *).
Proof.
 intros h0.
 apply t23.
Qed.
Lemma t24 : p42 -> p43 -> p41.
Proof.
 intros h0 h1.
 refine (rel_rewrite_1 r14 r17 r17 i22 h0 h1) ; finalize.
Qed.
Lemma l41 : s1 -> p41 (* REL(s * m - 1, (s - a / 7) / (a / 7) + (m - 7 / a) / (7 / a) + (s - a / 7) / (a / 7) * ((m - 7 / a) / (7 / a)), [0, 0]) *).
Proof.
 intros h0.
 assert (h1 := l42 h0).
 assert (h2 := l43 h0).
 apply t24. exact h1. exact h2.
Qed.
Lemma t25 : p32 -> p41 -> p31.
Proof.
 intros h0 h1.
 refine (bnd_of_bnd_rel_o r14 r17 i17 i22 i17 h0 h1 _) ; finalize.
Qed.
Lemma l32 : s1 -> p31 (* BND(s * m - 1, [-1.19209e-07, 1.19209e-07]) *).
Proof.
 intros h0.
 assert (h1 := l33 h0).
 assert (h2 := l41 h0).
 apply t25. exact h1. exact h2.
Qed.
Lemma t26 : p15 -> p31 -> p30.
Proof.
 intros h0 h1.
 refine (mul_oo r12 r14 i10 i17 i11 h0 h1 _) ; finalize.
Qed.
Lemma l31 : s1 -> p30 (* BND(x / s * (s * m - 1), [-8.34465e-07, 8.34465e-07]) *).
Proof.
 intros h0.
 assert (h1 := l15 h0).
 assert (h2 := l32 h0).
 apply t26. exact h1. exact h2.
Qed.
Lemma t27 : p18 -> p30 -> p17.
Proof.
 intros h0 h1.
 refine (bnd_rewrite r6 r13 i11 h0 h1) ; finalize.
Qed.
Lemma l19 : s1 -> p17 (* BND(x * m - x / s, [-8.34465e-07, 8.34465e-07]) *).
Proof.
 intros h0.
 assert (h1 := l20 h0).
 assert (h2 := l31 h0).
 apply t27. exact h1. exact h2.
Qed.
Notation p44 := (BND r6 i6). (* BND(x * m - x / s, [-0.5, 0.5]) *)
Lemma t28 : p15 -> p44 -> p14.
Proof.
 intros h0 h1.
 refine (add r12 r6 i10 i6 i9 h0 h1 _) ; finalize.
Qed.
Lemma l14 : s1 -> p14 (* BND(x / s + (x * m - x / s), [-7.5, 7.5]) *).
Proof.
 intros h0.
 assert (h1 := l15 h0).
 assert (h2 := l19 h0).
 apply t28. exact h1. refine (subset r6 i11 i6 h2 _) ; finalize.
Qed.
Lemma t29 : p14 -> p13.
Proof.
 intros h0.
 refine (val_xabs _ r7 i9 h0) ; finalize.
Qed.
Lemma l13 : s1 -> p13 (* BND(x * m, [-7.5, 7.5]) *).
Proof.
 intros h0.
 assert (h1 := l14 h0).
 apply t29. exact h1.
Qed.
Lemma t30 : p13 -> p12.
Proof.
 intros h0.
 refine (float_round_ne _ _ r7 i9 i9 h0 _) ; finalize.
Qed.
Lemma l12 : s1 -> p12 (* BND(t, [-7.5, 7.5]) *).
Proof.
 intros h0.
 assert (h1 := l13 h0).
 apply t30. exact h1.
Qed.
Lemma t31 : p12 -> p11.
Proof.
 intros h0.
 refine (abs_of_bnd_o _t i9 i8 h0 _) ; finalize.
Qed.
Lemma l11 : s1 -> p11 (* ABS(t, [0, 7.5]) *).
Proof.
 intros h0.
 assert (h1 := l12 h0).
 apply t31. exact h1.
Qed.
Lemma t32 : p11 -> p10.
Proof.
 intros h0.
 refine (float_absolute_inv_ne _ _ _ i8 i7 h0 _) ; finalize.
Qed.
Lemma l10 : s1 -> p10 (* BND(t - x * m, [-2.38419e-07, 2.38419e-07]) *).
Proof.
 intros h0.
 assert (h1 := l11 h0).
 apply t32. exact h1.
Qed.
Lemma t33 : p9 -> p10 -> p8.
Proof.
 intros h0 h1.
 refine (add r32 r33 i6 i7 i5 h0 h1 _) ; finalize.
Qed.
Lemma l8 : s1 -> p8 (* BND(n - t + (t - x * m), [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l9 h0).
 assert (h2 := l10 h0).
 apply t33. exact h1. exact h2.
Qed.
Lemma t34 : p8 -> p7.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i5 h0) ; finalize.
Qed.
Lemma l7 : s1 -> p7 (* BND(n - x * m, [-0.5, 0.5]) *).
Proof.
 intros h0.
 assert (h1 := l8 h0).
 apply t34. exact h1.
Qed.
Lemma t35 : p7 -> p17 -> p6.
Proof.
 intros h0 h1.
 refine (add r30 r6 i5 i11 i4 h0 h1 _) ; finalize.
Qed.
Lemma l6 : s1 -> p6 (* BND(n - x * m + (x * m - x / s), [-0.500001, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l7 h0).
 assert (h2 := l19 h0).
 apply t35. exact h1. exact h2.
Qed.
Lemma t36 : p6 -> p5.
Proof.
 intros h0.
 refine (sub_xals _ _ _ i4 h0) ; finalize.
Qed.
Lemma l5 : s1 -> p5 (* BND(n - x / s, [-0.500001, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l6 h0).
 apply t36. exact h1.
Qed.
Lemma t37 : p5 -> p4.
Proof.
 intros h0.
 refine (abs_of_bnd_o r26 i4 i3 h0 _) ; finalize.
Qed.
Lemma l4 : s1 -> p4 (* ABS(n - x / s, [0, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l5 h0).
 apply t37. exact h1.
Qed.
Lemma t38 : p4 -> p3.
Proof.
 intros h0.
 refine (uabs_of_abs r26 i3 h0) ; finalize.
Qed.
Lemma l3 : s1 -> p3 (* BND(|n - x / s|, [0, 0.500001]) *).
Proof.
 intros h0.
 assert (h1 := l4 h0).
 apply t38. exact h1.
Qed.
Lemma l1 : s1 -> False.
Proof.
 intros h0.
 assert (h1 := l2 h0).
 assert (h2 := l3 h0).
 refine (simplify (Tatom false (Abnd 0%nat i3)) Tfalse (Abnd 0%nat i3) (List.cons r25 List.nil) h2 h1 _) ; finalize.
Qed.
End Generated_by_Gappa.
