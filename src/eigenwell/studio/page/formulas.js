// Printed from the formulas of eigenwell/fields by eigenwell/export/javascript.py: do not change it by hand.
// Arrays are read row by row, and written once all is calculated: what comes out may go into what came in.

export function withinThrough(a0, a1, a2, a3, a4, out0, out1)
{
    const t0 = a1[0] + a3[0];
    const t1 = a1[1] + a3[1];
    const t2 = t0 - a0[0];
    const t3 = t1 - a0[1];
    const t4 = t2 / a3[0];
    const t5 = t3 / a3[1];
    const t6 = a2[0] - a3[2];
    const t7 = a2[1] - a3[3];
    const t8 = a0[0] - t6;
    const t9 = a0[1] - t7;
    const t10 = t8 / a3[2];
    const t11 = t9 / a3[3];
    const t12 = t4 > 0 ? t4 : 0;
    const t13 = t5 > 0 ? t5 : 0;
    const t14 = t10 > 0 ? t10 : 0;
    const t15 = t11 > 0 ? t11 : 0;
    const t16 = t12 > t14 ? t12 : t14;
    const t17 = t13 > t15 ? t13 : t15;
    const t18 = t16 < 0.999999 ? t16 : 0.999999;
    const t19 = t17 < 0.999999 ? t17 : 0.999999;
    const t20 = 1 - t18;
    const t21 = 1 - t19;
    const t22 = 1 / t20;
    const t23 = 1 / t21;
    const t24 = a0[0] - a1[0];
    const t25 = a0[1] - a1[1];
    const t26 = a2[0] - a0[0];
    const t27 = a2[1] - a0[1];
    const t28 = t24 < a4[0] ? t24 : a4[0];
    const t29 = t25 < a4[0] ? t25 : a4[0];
    const t30 = 1e-06 * a3[0];
    const t31 = 1e-06 * a3[1];
    const t32 = t28 > t30 ? t28 : t30;
    const t33 = t29 > t31 ? t29 : t31;
    const t34 = t32 / a4[0];
    const t35 = t33 / a4[0];
    const t36 = t26 < a4[0] ? t26 : a4[0];
    const t37 = t27 < a4[0] ? t27 : a4[0];
    const t38 = 1e-06 * a3[2];
    const t39 = 1e-06 * a3[3];
    const t40 = t36 > t38 ? t36 : t38;
    const t41 = t37 > t39 ? t37 : t39;
    const t42 = t40 / a4[0];
    const t43 = t41 / a4[0];
    const t44 = t12 + 1e-06;
    const t45 = t13 + 1e-06;
    const t46 = t44 > 1 ? t44 : 1;
    const t47 = t45 > 1 ? t45 : 1;
    const t48 = t46 - 1;
    const t49 = t47 - 1;
    const t50 = t48 / 0.1;
    const t51 = t49 / 0.1;
    const t52 = t50 < 1 ? t50 : 1;
    const t53 = t51 < 1 ? t51 : 1;
    const t54 = t14 + 1e-06;
    const t55 = t15 + 1e-06;
    const t56 = t54 > 1 ? t54 : 1;
    const t57 = t55 > 1 ? t55 : 1;
    const t58 = t56 - 1;
    const t59 = t57 - 1;
    const t60 = t58 / 0.1;
    const t61 = t59 / 0.1;
    const t62 = t60 < 1 ? t60 : 1;
    const t63 = t61 < 1 ? t61 : 1;
    const t64 = t12 < 0.999999 ? t12 : 0.999999;
    const t65 = t13 < 0.999999 ? t13 : 0.999999;
    const t66 = 1 - t64;
    const t67 = 1 - t65;
    const t68 = Math.log(t66);
    const t69 = Math.log(t67);
    const t70 = -t68;
    const t71 = -t69;
    const t72 = t70 - t12;
    const t73 = t71 - t13;
    const t74 = a3[0] * t72;
    const t75 = a3[1] * t73;
    const t76 = a0[0] - t74;
    const t77 = a0[1] - t75;
    const t78 = t14 < 0.999999 ? t14 : 0.999999;
    const t79 = t15 < 0.999999 ? t15 : 0.999999;
    const t80 = 1 - t78;
    const t81 = 1 - t79;
    const t82 = Math.log(t80);
    const t83 = Math.log(t81);
    const t84 = -t82;
    const t85 = -t83;
    const t86 = t84 - t14;
    const t87 = t85 - t15;
    const t88 = a3[2] * t86;
    const t89 = a3[3] * t87;
    const t90 = t76 + t88;
    const t91 = t77 + t89;
    const t92 = t52 - t62;
    const t93 = t53 - t63;
    out0[0] = t90;
    out0[1] = t91;
    out1[0] = t22;
    out1[1] = t23;
    out1[2] = t34;
    out1[3] = t35;
    out1[4] = t42;
    out1[5] = t43;
    out1[6] = t92;
    out1[7] = t93;
}

export function withinCarry(a0, a1, out0, out1)
{
    const t0 = a0[0] / a1[0];
    const t1 = a0[1] / a1[1];
    const t2 = a0[0] * a0[0];
    const t3 = a0[1] * a0[1];
    const t4 = t2 + t3;
    const t5 = Math.sqrt(t4);
    const t6 = t5 + 1e-30;
    const t7 = t0 * t0;
    const t8 = t1 * t1;
    const t9 = t7 + t8;
    const t10 = Math.sqrt(t9);
    const t11 = t10 + 1e-30;
    const t12 = t6 / t11;
    const t13 = t0 * t12;
    const t14 = t1 * t12;
    out0[0] = t13;
    out0[1] = t14;
    out1[0] = t12;
}

export function withinBrake(a0, a1, out0, out1)
{
    const t0 = a0[0] * a0[0];
    const t1 = a0[1] * a0[1];
    const t2 = t0 + t1;
    const t3 = Math.sqrt(t2);
    const t4 = 0 < a0[0];
    const t5 = 0 < a0[1];
    const t6 = t4 ? a1[4] : a1[2];
    const t7 = t5 ? a1[5] : a1[3];
    const t8 = t6 * t3;
    const t9 = t7 * t3;
    const t10 = Math.abs(a0[0]);
    const t11 = Math.abs(a0[1]);
    const t12 = t10 + 1e-30;
    const t13 = t11 + 1e-30;
    const t14 = t8 / t12;
    const t15 = t9 / t13;
    const t16 = t14 < t15 ? t14 : t15;
    const t17 = t16 < 1 ? t16 : 1;
    const t18 = t3 * a1[6];
    const t19 = t3 * a1[7];
    out0[0] = t17;
    out1[0] = t18;
    out1[1] = t19;
}

export function stretchThrough(a0, a1, a2, a3, a4, out0, out1)
{
    const t0 = a1[0] + a3[0];
    const t1 = a1[1] + a3[1];
    const t2 = t0 - a0[0];
    const t3 = t1 - a0[1];
    const t4 = t2 / a3[0];
    const t5 = t3 / a3[1];
    const t6 = a2[0] - a3[2];
    const t7 = a2[1] - a3[3];
    const t8 = a0[0] - t6;
    const t9 = a0[1] - t7;
    const t10 = t8 / a3[2];
    const t11 = t9 / a3[3];
    const t12 = t4 > 0 ? t4 : 0;
    const t13 = t5 > 0 ? t5 : 0;
    const t14 = t10 > 0 ? t10 : 0;
    const t15 = t11 > 0 ? t11 : 0;
    const t16 = t12 < a4[0] ? t12 : a4[0];
    const t17 = t13 < a4[0] ? t13 : a4[0];
    const t18 = 1 - a4[0];
    const t19 = t12 - t16;
    const t20 = t13 - t17;
    const t21 = 1 - t16;
    const t22 = 1 - t17;
    const t23 = t16 / t21;
    const t24 = t17 / t22;
    const t25 = t23 - t16;
    const t26 = t24 - t17;
    const t27 = t18 * t18;
    const t28 = 1 / t27;
    const t29 = t28 - 1;
    const t30 = t29 * t19;
    const t31 = t29 * t20;
    const t32 = t30 * t18;
    const t33 = t31 * t18;
    const t34 = t18 + t19;
    const t35 = t18 + t20;
    const t36 = t32 / t34;
    const t37 = t33 / t35;
    const t38 = t25 + t36;
    const t39 = t26 + t37;
    const t40 = a3[0] * t38;
    const t41 = a3[1] * t39;
    const t42 = a0[0] - t40;
    const t43 = a0[1] - t41;
    const t44 = t14 < a4[0] ? t14 : a4[0];
    const t45 = t15 < a4[0] ? t15 : a4[0];
    const t46 = t14 - t44;
    const t47 = t15 - t45;
    const t48 = 1 - t44;
    const t49 = 1 - t45;
    const t50 = t44 / t48;
    const t51 = t45 / t49;
    const t52 = t50 - t44;
    const t53 = t51 - t45;
    const t54 = t29 * t46;
    const t55 = t29 * t47;
    const t56 = t54 * t18;
    const t57 = t55 * t18;
    const t58 = t18 + t46;
    const t59 = t18 + t47;
    const t60 = t56 / t58;
    const t61 = t57 / t59;
    const t62 = t52 + t60;
    const t63 = t53 + t61;
    const t64 = a3[2] * t62;
    const t65 = a3[3] * t63;
    const t66 = t42 + t64;
    const t67 = t43 + t65;
    const t68 = t12 > t14 ? t12 : t14;
    const t69 = t13 > t15 ? t13 : t15;
    const t70 = t68 < a4[0] ? t68 : a4[0];
    const t71 = t69 < a4[0] ? t69 : a4[0];
    const t72 = 1 - t70;
    const t73 = 1 - t71;
    const t74 = t18 + t68;
    const t75 = t18 + t69;
    const t76 = t74 - t70;
    const t77 = t75 - t71;
    const t78 = t18 / t76;
    const t79 = t18 / t77;
    const t80 = t72 * t72;
    const t81 = t73 * t73;
    const t82 = 1 / t80;
    const t83 = 1 / t81;
    const t84 = t82 - 1;
    const t85 = t83 - 1;
    const t86 = t84 * t78;
    const t87 = t85 * t79;
    const t88 = t86 * t78;
    const t89 = t87 * t79;
    const t90 = 1 + t88;
    const t91 = 1 + t89;
    out0[0] = t66;
    out0[1] = t67;
    out1[0] = t90;
    out1[1] = t91;
}

export function stretchCarry(a0, a1, out0, out1)
{
    const t0 = a0[0] / a1[0];
    const t1 = a0[1] / a1[1];
    const t2 = a0[0] * a0[0];
    const t3 = a0[1] * a0[1];
    const t4 = t2 + t3;
    const t5 = Math.sqrt(t4);
    const t6 = t5 + 1e-30;
    const t7 = t0 * t0;
    const t8 = t1 * t1;
    const t9 = t7 + t8;
    const t10 = Math.sqrt(t9);
    const t11 = t10 + 1e-30;
    const t12 = t6 / t11;
    const t13 = t0 * t12;
    const t14 = t1 * t12;
    out0[0] = t13;
    out0[1] = t14;
    out1[0] = t12;
}

export function aroundThrough(a0, a1, a2, a3, a4, out0, out1)
{
    const t0 = a1[0] / 1.000001;
    const t1 = a1[0] > 1.000001 ? a1[0] : 1.000001;
    const t2 = t1 / a1[0];
    const t3 = a0[0] * t2;
    const t4 = a0[1] * t2;
    const t5 = t1 - 1;
    const t6 = a4[0] - 1;
    const t7 = t5 / t6;
    const t8 = t7 < 1 ? t7 : 1;
    const t9 = t8 < 1;
    const t10 = a4[0] + 1;
    const t11 = t10 - t8;
    const t12 = t8 * t11;
    const t13 = t9 ? t12 : t1;
    const t14 = 2 * t8;
    const t15 = t10 - t14;
    const t16 = t15 / t6;
    const t17 = t9 ? t16 : 1;
    const t18 = t13 / t1;
    const t19 = t18 * t3;
    const t20 = t18 * t4;
    const t21 = a3[0] + t19;
    const t22 = a3[1] + t20;
    out0[0] = t21;
    out0[1] = t22;
    out1[0] = t3;
    out1[1] = t4;
    out1[2] = a2[0];
    out1[3] = a2[1];
    out1[4] = t1;
    out1[5] = t18;
    out1[6] = t17;
    out1[7] = t0;
}

export function aroundCarry(a0, a1, out0, out1)
{
    const t0 = a1[6] - a1[5];
    const t1 = t0 / a1[4];
    const t2 = t1 / a1[6];
    const t3 = a1[2] * a0[0];
    const t4 = a1[3] * a0[1];
    const t5 = t3 + t4;
    const t6 = t2 * t5;
    const t7 = t6 * a1[0];
    const t8 = t6 * a1[1];
    const t9 = a0[0] - t7;
    const t10 = a0[1] - t8;
    const t11 = t9 / a1[5];
    const t12 = t10 / a1[5];
    const t13 = a0[0] * a0[0];
    const t14 = a0[1] * a0[1];
    const t15 = t13 + t14;
    const t16 = Math.sqrt(t15);
    const t17 = t16 + 1e-30;
    const t18 = t11 * t11;
    const t19 = t12 * t12;
    const t20 = t18 + t19;
    const t21 = Math.sqrt(t20);
    const t22 = t21 + 1e-30;
    const t23 = t17 / t22;
    const t24 = t11 * t23;
    const t25 = t12 * t23;
    out0[0] = t24;
    out0[1] = t25;
    out1[0] = t23;
}

export function aroundBrake(a0, a1, out0, out1)
{
    const t0 = a0[0] * a0[0];
    const t1 = a0[1] * a0[1];
    const t2 = t0 + t1;
    const t3 = Math.sqrt(t2);
    const t4 = a1[2] * a0[0];
    const t5 = a1[3] * a0[1];
    const t6 = t4 + t5;
    const t7 = -t6;
    const t8 = t7 > 0 ? t7 : 0;
    const t9 = a1[2] * a1[2];
    const t10 = a1[3] * a1[3];
    const t11 = t9 + t10;
    const t12 = Math.sqrt(t11);
    const t13 = t3 * t12;
    const t14 = a1[4] - 1;
    const t15 = t13 * t14;
    const t16 = 1 - a1[7];
    const t17 = t16 / 0.1;
    const t18 = t17 < 1 ? t17 : 1;
    const t19 = t18 > 0 ? t18 : 0;
    const t20 = t8 + 1e-30;
    const t21 = t15 / t20;
    const t22 = t21 < 1 ? t21 : 1;
    const t23 = a1[0] * a1[0];
    const t24 = a1[1] * a1[1];
    const t25 = t23 + t24;
    const t26 = Math.sqrt(t25);
    const t27 = t3 / t26;
    const t28 = t27 * t19;
    const t29 = t28 * a1[0];
    const t30 = t28 * a1[1];
    out0[0] = t22;
    out1[0] = t29;
    out1[1] = t30;
}

export function gaugeOf(a0, a1, a2, a3, out0, out1)
{
    const t0 = a2[0] * a3[0];
    const t1 = a2[1] * a3[1];
    const t2 = t0 + t1;
    const t3 = a2[2] * a3[0];
    const t4 = a2[3] * a3[1];
    const t5 = t3 + t4;
    const t6 = a0[0] - a1[0];
    const t7 = a0[1] - a1[1];
    const t8 = a2[0] * t6;
    const t9 = a2[1] * t7;
    const t10 = t8 + t9;
    const t11 = a2[2] * t6;
    const t12 = a2[3] * t7;
    const t13 = t11 + t12;
    const t14 = t10 * t10;
    const t15 = t13 * t13;
    const t16 = t14 + t15;
    const t17 = 1 - t16;
    const t18 = t10 * t2;
    const t19 = t13 * t5;
    const t20 = t18 + t19;
    const t21 = t20 * t20;
    const t22 = t2 * t2;
    const t23 = t5 * t5;
    const t24 = t22 + t23;
    const t25 = t17 * t24;
    const t26 = t21 + t25;
    const t27 = Math.sqrt(t26);
    const t28 = t27 + 1e-30;
    const t29 = t20 + t28;
    const t30 = t29 / t17;
    const t31 = t30 * t10;
    const t32 = t30 * t13;
    const t33 = t31 + t2;
    const t34 = t32 + t5;
    const t35 = t33 / t28;
    const t36 = t34 / t28;
    const t37 = a2[0] * t35;
    const t38 = a2[2] * t36;
    const t39 = t37 + t38;
    const t40 = a2[1] * t35;
    const t41 = a2[3] * t36;
    const t42 = t40 + t41;
    out0[0] = t30;
    out1[0] = t39;
    out1[1] = t42;
}

export function joined(a0, a1, a2, a3, out0, out1)
{
    const t0 = a0[0] < a2[0] ? a0[0] : a2[0];
    const t1 = t0 / a0[0];
    const t2 = t1 * t1;
    const t3 = t2 * t2;
    const t4 = t0 / a2[0];
    const t5 = t4 * t4;
    const t6 = t5 * t5;
    const t7 = t3 + t6;
    const t8 = Math.pow(t7, -0.25);
    const t9 = t0 * t8;
    const t10 = t9 / a0[0];
    const t11 = t10 * t10;
    const t12 = t11 * t11;
    const t13 = t12 * t10;
    const t14 = t13 * a1[0];
    const t15 = t13 * a1[1];
    const t16 = t9 / a2[0];
    const t17 = t16 * t16;
    const t18 = t17 * t17;
    const t19 = t18 * t16;
    const t20 = t19 * a3[0];
    const t21 = t19 * a3[1];
    const t22 = t14 + t20;
    const t23 = t15 + t21;
    out0[0] = t9;
    out1[0] = t22;
    out1[1] = t23;
}

export function aside(a0, out0)
{
    const t0 = a0[0] * a0[0];
    const t1 = a0[1] * a0[1];
    const t2 = t0 + t1;
    const t3 = 0 < t2;
    const t4 = t3 ? a0[0] : 1e-09;
    const t5 = t3 ? a0[1] : 0;
    out0[0] = t4;
    out0[1] = t5;
}

export function affine(a0, a1, a2, out0, out1)
{
    const t0 = a1[0] * a0[0];
    const t1 = a1[1] * a0[1];
    const t2 = t0 + t1;
    const t3 = a1[2] * a0[0];
    const t4 = a1[3] * a0[1];
    const t5 = t3 + t4;
    const t6 = t2 + a2[0];
    const t7 = t5 + a2[1];
    out0[0] = t6;
    out0[1] = t7;
    out1[0] = a1[0];
    out1[1] = a1[1];
    out1[2] = a1[2];
    out1[3] = a1[3];
}

export function nudged(a0, a1, a2, a3, a4, a5, out0, out1)
{
    const t0 = a0[0] - a1[0];
    const t1 = a0[1] - a1[1];
    const t2 = t0 / a3[0];
    const t3 = t1 / a3[1];
    const t4 = t2 * t2;
    const t5 = t3 * t3;
    const t6 = t4 + t5;
    const t7 = -0.5 * t6;
    const t8 = Math.exp(t7);
    const t9 = t8 * t2;
    const t10 = t8 * t3;
    const t11 = t9 / a3[0];
    const t12 = t10 / a3[1];
    const t13 = a2[0] * t11;
    const t14 = a2[0] * t12;
    const t15 = a2[1] * t11;
    const t16 = a2[1] * t12;
    const t17 = 1 - t13;
    const t18 = 0 - t14;
    const t19 = 0 - t15;
    const t20 = 1 - t16;
    const t21 = a2[0] * t8;
    const t22 = a2[1] * t8;
    const t23 = a0[0] + t21;
    const t24 = a0[1] + t22;
    const t25 = t23 - a0[0];
    const t26 = t24 - a0[1];
    const t27 = a4[0] + t25;
    const t28 = a4[1] + t26;
    const t29 = t17 - 1;
    const t30 = t20 - 1;
    const t31 = a5[0] + t29;
    const t32 = a5[1] + t18;
    const t33 = a5[2] + t19;
    const t34 = a5[3] + t30;
    out0[0] = t27;
    out0[1] = t28;
    out1[0] = t31;
    out1[1] = t32;
    out1[2] = t33;
    out1[3] = t34;
}

export function product(a0, a1, out0)
{
    const t0 = a0[0] * a1[0];
    const t1 = a0[1] * a1[2];
    const t2 = t0 + t1;
    const t3 = a0[0] * a1[1];
    const t4 = a0[1] * a1[3];
    const t5 = t3 + t4;
    const t6 = a0[2] * a1[0];
    const t7 = a0[3] * a1[2];
    const t8 = t6 + t7;
    const t9 = a0[2] * a1[1];
    const t10 = a0[3] * a1[3];
    const t11 = t9 + t10;
    out0[0] = t2;
    out0[1] = t5;
    out0[2] = t8;
    out0[3] = t11;
}

export function returning(a0, a1, a2, out0, out1)
{
    const t0 = a2[0] * a2[0];
    const t1 = a2[1] * a2[1];
    const t2 = t0 + t1;
    const t3 = Math.sqrt(t2);
    const t4 = a0[0] * a0[0];
    const t5 = a0[1] * a0[1];
    const t6 = t4 + t5;
    const t7 = Math.sqrt(t6);
    const t8 = t7 + 1e-30;
    const t9 = t3 / t8;
    const t10 = 1 - t9;
    const t11 = t10 > 0 ? t10 : 0;
    const t12 = a1[0] * t11;
    const t13 = t12 * a0[0];
    const t14 = t12 * a0[1];
    const t15 = t9 > 1 ? t9 : 1;
    const t16 = a2[0] / t15;
    const t17 = a2[1] / t15;
    const t18 = t13 + t16;
    const t19 = t14 + t17;
    out0[0] = t18;
    out0[1] = t19;
    out1[0] = t12;
}

export function withinInverse(a0, a1, a2, a3, a4, out0)
{
    const t0 = a1[0] + a3[0];
    const t1 = a1[1] + a3[1];
    const t2 = t0 - a0[0];
    const t3 = t1 - a0[1];
    const t4 = t2 / a3[0];
    const t5 = t3 / a3[1];
    const t6 = a2[0] - a3[2];
    const t7 = a2[1] - a3[3];
    const t8 = a0[0] - t6;
    const t9 = a0[1] - t7;
    const t10 = t8 / a3[2];
    const t11 = t9 / a3[3];
    const t12 = t4 > 0 ? t4 : 0;
    const t13 = t5 > 0 ? t5 : 0;
    const t14 = t10 > 0 ? t10 : 0;
    const t15 = t11 > 0 ? t11 : 0;
    const t16 = -t12;
    const t17 = -t13;
    const t18 = t16 > -13.815510557964274 ? t16 : -13.815510557964274;
    const t19 = t17 > -13.815510557964274 ? t17 : -13.815510557964274;
    const t20 = Math.exp(t18);
    const t21 = Math.exp(t19);
    const t22 = 1 - t20;
    const t23 = 1 - t21;
    const t24 = t22 - t12;
    const t25 = t23 - t13;
    const t26 = a3[0] * t24;
    const t27 = a3[1] * t25;
    const t28 = a0[0] - t26;
    const t29 = a0[1] - t27;
    const t30 = -t14;
    const t31 = -t15;
    const t32 = t30 > -13.815510557964274 ? t30 : -13.815510557964274;
    const t33 = t31 > -13.815510557964274 ? t31 : -13.815510557964274;
    const t34 = Math.exp(t32);
    const t35 = Math.exp(t33);
    const t36 = 1 - t34;
    const t37 = 1 - t35;
    const t38 = t36 - t14;
    const t39 = t37 - t15;
    const t40 = a3[2] * t38;
    const t41 = a3[3] * t39;
    const t42 = t28 + t40;
    const t43 = t29 + t41;
    out0[0] = t42;
    out0[1] = t43;
}

export function stretchInverse(a0, a1, a2, a3, a4, out0)
{
    const t0 = 1 - a4[0];
    const t1 = a4[0] / t0;
    const t2 = Math.pow(t0, -2);
    const t3 = a1[0] + a3[0];
    const t4 = a1[1] + a3[1];
    const t5 = t3 - a0[0];
    const t6 = t4 - a0[1];
    const t7 = t5 / a3[0];
    const t8 = t6 / a3[1];
    const t9 = a2[0] - a3[2];
    const t10 = a2[1] - a3[3];
    const t11 = a0[0] - t9;
    const t12 = a0[1] - t10;
    const t13 = t11 / a3[2];
    const t14 = t12 / a3[3];
    const t15 = t7 > 0 ? t7 : 0;
    const t16 = t8 > 0 ? t8 : 0;
    const t17 = t13 > 0 ? t13 : 0;
    const t18 = t14 > 0 ? t14 : 0;
    const t19 = t15 - t1;
    const t20 = t16 - t1;
    const t21 = t19 > 0 ? t19 : 0;
    const t22 = t20 > 0 ? t20 : 0;
    const t23 = t21 / t0;
    const t24 = t22 / t0;
    const t25 = t2 - t23;
    const t26 = t2 - t24;
    const t27 = t25 * t25;
    const t28 = t26 * t26;
    const t29 = 4 * t23;
    const t30 = 4 * t24;
    const t31 = t27 + t29;
    const t32 = t28 + t30;
    const t33 = Math.sqrt(t31);
    const t34 = Math.sqrt(t32);
    const t35 = 0 < t25;
    const t36 = 0 < t26;
    const t37 = 2 * t23;
    const t38 = 2 * t24;
    const t39 = t25 + t33;
    const t40 = t26 + t34;
    const t41 = t35 ? t39 : 1;
    const t42 = t36 ? t40 : 1;
    const t43 = t37 / t41;
    const t44 = t38 / t42;
    const t45 = t33 - t25;
    const t46 = t34 - t26;
    const t47 = 0.5 * t45;
    const t48 = 0.5 * t46;
    const t49 = t35 ? t43 : t47;
    const t50 = t36 ? t44 : t48;
    const t51 = t15 < t1;
    const t52 = t16 < t1;
    const t53 = 1 + t15;
    const t54 = 1 + t16;
    const t55 = t15 / t53;
    const t56 = t16 / t54;
    const t57 = t0 * t49;
    const t58 = t0 * t50;
    const t59 = a4[0] + t57;
    const t60 = a4[0] + t58;
    const t61 = t51 ? t55 : t59;
    const t62 = t52 ? t56 : t60;
    const t63 = t61 - t15;
    const t64 = t62 - t16;
    const t65 = a3[0] * t63;
    const t66 = a3[1] * t64;
    const t67 = a0[0] - t65;
    const t68 = a0[1] - t66;
    const t69 = t17 - t1;
    const t70 = t18 - t1;
    const t71 = t69 > 0 ? t69 : 0;
    const t72 = t70 > 0 ? t70 : 0;
    const t73 = t71 / t0;
    const t74 = t72 / t0;
    const t75 = t2 - t73;
    const t76 = t2 - t74;
    const t77 = t75 * t75;
    const t78 = t76 * t76;
    const t79 = 4 * t73;
    const t80 = 4 * t74;
    const t81 = t77 + t79;
    const t82 = t78 + t80;
    const t83 = Math.sqrt(t81);
    const t84 = Math.sqrt(t82);
    const t85 = 0 < t75;
    const t86 = 0 < t76;
    const t87 = 2 * t73;
    const t88 = 2 * t74;
    const t89 = t75 + t83;
    const t90 = t76 + t84;
    const t91 = t85 ? t89 : 1;
    const t92 = t86 ? t90 : 1;
    const t93 = t87 / t91;
    const t94 = t88 / t92;
    const t95 = t83 - t75;
    const t96 = t84 - t76;
    const t97 = 0.5 * t95;
    const t98 = 0.5 * t96;
    const t99 = t85 ? t93 : t97;
    const t100 = t86 ? t94 : t98;
    const t101 = t17 < t1;
    const t102 = t18 < t1;
    const t103 = 1 + t17;
    const t104 = 1 + t18;
    const t105 = t17 / t103;
    const t106 = t18 / t104;
    const t107 = t0 * t99;
    const t108 = t0 * t100;
    const t109 = a4[0] + t107;
    const t110 = a4[0] + t108;
    const t111 = t101 ? t105 : t109;
    const t112 = t102 ? t106 : t110;
    const t113 = t111 - t17;
    const t114 = t112 - t18;
    const t115 = a3[2] * t113;
    const t116 = a3[3] * t114;
    const t117 = t67 + t115;
    const t118 = t68 + t116;
    out0[0] = t117;
    out0[1] = t118;
}

export function moved2(a0, a1, a2, a3, out0, out1, out2)
{
    const t0 = a0[0] * a0[0];
    const t1 = a1[0] * a1[0];
    const t2 = t0 * t1;
    const t3 = t2 * t2;
    const t4 = 1 + t3;
    const t5 = 1 / t4;
    const t6 = a2[0] / 2;
    const t7 = Math.tanh(t6);
    const t8 = t0 * t0;
    const t9 = -4 * t8;
    const t10 = t9 * t5;
    const t11 = t10 * t5;
    const t12 = t11 * t1;
    const t13 = t12 * a1[0];
    const t14 = 2 * t7;
    const t15 = a0[0] * a1[1];
    const t16 = t15 * t15;
    const t17 = 1 + t16;
    const t18 = Math.sqrt(t17);
    const t19 = 1 / t18;
    const t20 = t5 * t14;
    const t21 = t20 * t19;
    const t22 = Math.exp(t21);
    const t23 = a1[1] * t22;
    const t24 = t19 * t19;
    const t25 = 1 - t24;
    const t26 = t21 * t25;
    const t27 = 1 - t26;
    const t28 = t22 * t27;
    const t29 = t23 * t19;
    const t30 = t29 * t5;
    const t31 = t7 * t7;
    const t32 = 1 - t31;
    const t33 = t30 * t32;
    const t34 = t33 * a3[0];
    const t35 = t5 * a3[1];
    const t36 = t34 + t35;
    const t37 = t5 * a2[1];
    const t38 = t23 + t37;
    const t39 = t29 * t14;
    const t40 = t39 + a2[1];
    const t41 = t40 * t13;
    const t42 = t36 + t41;
    out0[0] = a1[0];
    out0[1] = t38;
    out1[0] = t28;
    out2[0] = t42;
}

export function pulled2(a0, a1, a2, out0)
{
    const t0 = a1[0] * a2[0];
    const t1 = a2[1] - t0;
    const t2 = t1 / a0[0];
    out0[0] = a2[0];
    out0[1] = t2;
}

export function within2(a0, a1, out0)
{
    const t0 = a0[0] * a0[0];
    const t1 = a1[0] * a1[0];
    const t2 = a1[1] * a1[1];
    const t3 = t1 + t2;
    const t4 = t3 / 2;
    const t5 = t0 * t4;
    const t6 = t5 * t5;
    const t7 = 1 + t6;
    const t8 = 1 / t7;
    out0[0] = t8;
}

export function braked2(a0, a1, a2, out0, out1)
{
    const t0 = a0[0] * a2[0];
    const t1 = a0[1] * a2[1];
    const t2 = t0 * t0;
    const t3 = t1 * t1;
    const t4 = t2 + t3;
    const t5 = t4 + 1e-30;
    const t6 = Math.sqrt(t5);
    const t7 = t6 > 1 ? t6 : 1;
    const t8 = t6 / t7;
    const t9 = t8 / t7;
    const t10 = t9 * t9;
    const t11 = t10 * t10;
    const t12 = t11 * t11;
    const t13 = 1 + t12;
    const t14 = Math.pow(t13, 0.125);
    const t15 = t7 * t14;
    const t16 = 1 / t15;
    const t17 = a1[0] * t16;
    const t18 = a1[1] * t16;
    const t19 = t17 * a2[0];
    const t20 = t18 * a2[1];
    out0[0] = t19;
    out0[1] = t20;
    out1[0] = t16;
}

export function alone2(a0, a1, a2, a3, a4, out0)
{
    const t0 = a4[0] - a0[0];
    const t1 = a4[1] - a0[1];
    const t2 = a2[0] * a2[0];
    const t3 = t0 * t0;
    const t4 = t1 * t1;
    const t5 = t3 + t4;
    const t6 = t2 * t5;
    const t7 = t6 * t6;
    const t8 = t7 * t7;
    const t9 = 1 + t8;
    const t10 = 1 / t9;
    const t11 = a3[0] * t0;
    const t12 = a3[1] * t1;
    const t13 = t11 + t12;
    const t14 = a3[2] * t0;
    const t15 = a3[3] * t1;
    const t16 = t14 + t15;
    const t17 = t10 * t13;
    const t18 = t10 * t16;
    const t19 = t0 + t17;
    const t20 = t1 + t18;
    const t21 = -t19;
    const t22 = -t20;
    const t23 = t5 + 1e-30;
    const t24 = Math.sqrt(t23);
    const t25 = t24 + a1[0];
    const t26 = t21 / t25;
    const t27 = t22 / t25;
    out0[0] = t26;
    out0[1] = t27;
}

export function moved3(a0, a1, a2, a3, out0, out1, out2)
{
    const t0 = a0[0] * a0[0];
    const t1 = a1[0] * a1[0];
    const t2 = t0 * t1;
    const t3 = t2 * t2;
    const t4 = 1 + t3;
    const t5 = 1 / t4;
    const t6 = a2[0] / 2;
    const t7 = a2[1] / 2;
    const t8 = Math.tanh(t6);
    const t9 = Math.tanh(t7);
    const t10 = t0 * t0;
    const t11 = -4 * t10;
    const t12 = t11 * t5;
    const t13 = t12 * t5;
    const t14 = t13 * t1;
    const t15 = t14 * a1[0];
    const t16 = 2 * t8;
    const t17 = 2 * t9;
    const t18 = a0[0] * a1[1];
    const t19 = a0[0] * a1[2];
    const t20 = t18 * t18;
    const t21 = t19 * t19;
    const t22 = 1 + t20;
    const t23 = 1 + t21;
    const t24 = Math.sqrt(t22);
    const t25 = Math.sqrt(t23);
    const t26 = 1 / t24;
    const t27 = 1 / t25;
    const t28 = t5 * t16;
    const t29 = t5 * t17;
    const t30 = t28 * t26;
    const t31 = t29 * t27;
    const t32 = Math.exp(t30);
    const t33 = Math.exp(t31);
    const t34 = a1[1] * t32;
    const t35 = a1[2] * t33;
    const t36 = t26 * t26;
    const t37 = t27 * t27;
    const t38 = 1 - t36;
    const t39 = 1 - t37;
    const t40 = t30 * t38;
    const t41 = t31 * t39;
    const t42 = 1 - t40;
    const t43 = 1 - t41;
    const t44 = t32 * t42;
    const t45 = t33 * t43;
    const t46 = t34 * t26;
    const t47 = t35 * t27;
    const t48 = t46 * t5;
    const t49 = t47 * t5;
    const t50 = t8 * t8;
    const t51 = t9 * t9;
    const t52 = 1 - t50;
    const t53 = 1 - t51;
    const t54 = t48 * t52;
    const t55 = t49 * t53;
    const t56 = t54 * a3[0];
    const t57 = t55 * a3[1];
    const t58 = t5 * a3[2];
    const t59 = t5 * a3[3];
    const t60 = t56 + t58;
    const t61 = t57 + t59;
    const t62 = t5 * a2[2];
    const t63 = t5 * a2[3];
    const t64 = t34 + t62;
    const t65 = t35 + t63;
    const t66 = t46 * t16;
    const t67 = t47 * t17;
    const t68 = t66 + a2[2];
    const t69 = t67 + a2[3];
    const t70 = t68 * t15;
    const t71 = t69 * t15;
    const t72 = t60 + t70;
    const t73 = t61 + t71;
    out0[0] = a1[0];
    out0[1] = t64;
    out0[2] = t65;
    out1[0] = t44;
    out1[1] = t45;
    out2[0] = t72;
    out2[1] = t73;
}

export function pulled3(a0, a1, a2, out0)
{
    const t0 = a1[0] * a2[0];
    const t1 = a1[1] * a2[0];
    const t2 = a2[1] - t0;
    const t3 = a2[2] - t1;
    const t4 = t2 / a0[0];
    const t5 = t3 / a0[1];
    out0[0] = a2[0];
    out0[1] = t4;
    out0[2] = t5;
}

export function within3(a0, a1, out0)
{
    const t0 = a0[0] * a0[0];
    const t1 = a1[0] * a1[0];
    const t2 = a1[1] * a1[1];
    const t3 = a1[2] * a1[2];
    const t4 = t1 + t2;
    const t5 = t4 + t3;
    const t6 = t5 / 3;
    const t7 = t0 * t6;
    const t8 = t7 * t7;
    const t9 = 1 + t8;
    const t10 = 1 / t9;
    out0[0] = t10;
}

export function braked3(a0, a1, a2, out0, out1)
{
    const t0 = a0[0] * a2[0];
    const t1 = a0[1] * a2[1];
    const t2 = a0[2] * a2[2];
    const t3 = t0 * t0;
    const t4 = t1 * t1;
    const t5 = t2 * t2;
    const t6 = t3 + t4;
    const t7 = t6 + t5;
    const t8 = t7 + 1e-30;
    const t9 = Math.sqrt(t8);
    const t10 = t9 > 1 ? t9 : 1;
    const t11 = t9 / t10;
    const t12 = t11 / t10;
    const t13 = t12 * t12;
    const t14 = t13 * t13;
    const t15 = t14 * t14;
    const t16 = 1 + t15;
    const t17 = Math.pow(t16, 0.125);
    const t18 = t10 * t17;
    const t19 = 1 / t18;
    const t20 = a1[0] * t19;
    const t21 = a1[1] * t19;
    const t22 = a1[2] * t19;
    const t23 = t20 * a2[0];
    const t24 = t21 * a2[1];
    const t25 = t22 * a2[2];
    out0[0] = t23;
    out0[1] = t24;
    out0[2] = t25;
    out1[0] = t19;
}

export function alone3(a0, a1, a2, a3, a4, out0)
{
    const t0 = a4[0] - a0[0];
    const t1 = a4[1] - a0[1];
    const t2 = a4[2] - a0[2];
    const t3 = a2[0] * a2[0];
    const t4 = t0 * t0;
    const t5 = t1 * t1;
    const t6 = t2 * t2;
    const t7 = t4 + t5;
    const t8 = t7 + t6;
    const t9 = t3 * t8;
    const t10 = t9 * t9;
    const t11 = t10 * t10;
    const t12 = 1 + t11;
    const t13 = 1 / t12;
    const t14 = a3[0] * t0;
    const t15 = a3[1] * t1;
    const t16 = t14 + t15;
    const t17 = a3[2] * t2;
    const t18 = t16 + t17;
    const t19 = a3[3] * t0;
    const t20 = a3[4] * t1;
    const t21 = t19 + t20;
    const t22 = a3[5] * t2;
    const t23 = t21 + t22;
    const t24 = a3[6] * t0;
    const t25 = a3[7] * t1;
    const t26 = t24 + t25;
    const t27 = a3[8] * t2;
    const t28 = t26 + t27;
    const t29 = t13 * t18;
    const t30 = t13 * t23;
    const t31 = t13 * t28;
    const t32 = t0 + t29;
    const t33 = t1 + t30;
    const t34 = t2 + t31;
    const t35 = -t32;
    const t36 = -t33;
    const t37 = -t34;
    const t38 = t8 + 1e-30;
    const t39 = Math.sqrt(t38);
    const t40 = t39 + a1[0];
    const t41 = t35 / t40;
    const t42 = t36 / t40;
    const t43 = t37 / t40;
    out0[0] = t41;
    out0[1] = t42;
    out0[2] = t43;
}
