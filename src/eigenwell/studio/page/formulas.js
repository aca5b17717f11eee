// Printed from the formulas of eigenwell/fields by eigenwell/export/javascript.py: do not change it by hand.
// Arrays are read row by row, and written once all is calculated: what comes out may go into what came in.

export function withinThrough(a0, a1, a2, a3, a4, out0, out1)
{
  const t12 = Math.max(((a1[0] + a3[0]) - a0[0]) / a3[0], 0),
  t13 = Math.max(((a1[1] + a3[1]) - a0[1]) / a3[1], 0),
  t14 = Math.max((a0[0] - (a2[0] - a3[2])) / a3[2], 0),
  t15 = Math.max((a0[1] - (a2[1] - a3[3])) / a3[3], 0),
  t20 = 1 - (Math.min(Math.max(t12, t14), 0.999999)),
  t21 = 1 - (Math.min(Math.max(t13, t15), 0.999999)),
  t22 = 1 / t20,
  t23 = 1 / t21,
  t32 = Math.max(Math.min(a0[0] - a1[0], a4[0]), 1e-06 * a3[0]),
  t33 = Math.max(Math.min(a0[1] - a1[1], a4[0]), 1e-06 * a3[1]),
  t34 = t32 / a4[0],
  t35 = t33 / a4[0],
  t40 = Math.max(Math.min(a2[0] - a0[0], a4[0]), 1e-06 * a3[2]),
  t41 = Math.max(Math.min(a2[1] - a0[1], a4[0]), 1e-06 * a3[3]),
  t42 = t40 / a4[0],
  t43 = t41 / a4[0],
  t52 = Math.min(((Math.max(t12 + 1e-06, 1)) - 1) / 0.1, 1),
  t53 = Math.min(((Math.max(t13 + 1e-06, 1)) - 1) / 0.1, 1),
  t62 = Math.min(((Math.max(t14 + 1e-06, 1)) - 1) / 0.1, 1),
  t63 = Math.min(((Math.max(t15 + 1e-06, 1)) - 1) / 0.1, 1),
  t72 = (-(Math.log(1 - (Math.min(t12, 0.999999))))) - t12,
  t73 = (-(Math.log(1 - (Math.min(t13, 0.999999))))) - t13,
  t86 = (-(Math.log(1 - (Math.min(t14, 0.999999))))) - t14,
  t87 = (-(Math.log(1 - (Math.min(t15, 0.999999))))) - t15,
  t90 = (a0[0] - (a3[0] * t72)) + (a3[2] * t86),
  t91 = (a0[1] - (a3[1] * t73)) + (a3[3] * t87),
  t92 = t52 - t62,
  t93 = t53 - t63;
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
  const t0 = a0[0] / a1[0],
  t1 = a0[1] / a1[1],
  t5 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t12 = (t5 + 1e-30) / ((Math.sqrt((t0 * t0) + (t1 * t1))) + 1e-30),
  t13 = t0 * t12,
  t14 = t1 * t12;
  out0[0] = t13;
  out0[1] = t14;
  out1[0] = t12;
}

export function withinBrake(a0, a1, out0, out1)
{
  const t3 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t14 = (((0 < a0[0]) ? a1[4] : a1[2]) * t3) / ((Math.abs(a0[0])) + 1e-30),
  t15 = (((0 < a0[1]) ? a1[5] : a1[3]) * t3) / ((Math.abs(a0[1])) + 1e-30),
  t17 = Math.min(Math.min(t14, t15), 1),
  t18 = t3 * a1[6],
  t19 = t3 * a1[7];
  out0[0] = t17;
  out1[0] = t18;
  out1[1] = t19;
}

export function stretchThrough(a0, a1, a2, a3, a4, out0, out1)
{
  const t12 = Math.max(((a1[0] + a3[0]) - a0[0]) / a3[0], 0),
  t13 = Math.max(((a1[1] + a3[1]) - a0[1]) / a3[1], 0),
  t14 = Math.max((a0[0] - (a2[0] - a3[2])) / a3[2], 0),
  t15 = Math.max((a0[1] - (a2[1] - a3[3])) / a3[3], 0),
  t16 = Math.min(t12, a4[0]),
  t17 = Math.min(t13, a4[0]),
  t18 = 1 - a4[0],
  t19 = t12 - t16,
  t20 = t13 - t17,
  t29 = (1 / (t18 * t18)) - 1,
  t38 = ((t16 / (1 - t16)) - t16) + (((t29 * t19) * t18) / (t18 + t19)),
  t39 = ((t17 / (1 - t17)) - t17) + (((t29 * t20) * t18) / (t18 + t20)),
  t44 = Math.min(t14, a4[0]),
  t45 = Math.min(t15, a4[0]),
  t46 = t14 - t44,
  t47 = t15 - t45,
  t62 = ((t44 / (1 - t44)) - t44) + (((t29 * t46) * t18) / (t18 + t46)),
  t63 = ((t45 / (1 - t45)) - t45) + (((t29 * t47) * t18) / (t18 + t47)),
  t66 = (a0[0] - (a3[0] * t38)) + (a3[2] * t62),
  t67 = (a0[1] - (a3[1] * t39)) + (a3[3] * t63),
  t68 = Math.max(t12, t14),
  t69 = Math.max(t13, t15),
  t70 = Math.min(t68, a4[0]),
  t71 = Math.min(t69, a4[0]),
  t72 = 1 - t70,
  t73 = 1 - t71,
  t78 = t18 / ((t18 + t68) - t70),
  t79 = t18 / ((t18 + t69) - t71),
  t90 = 1 + ((((1 / (t72 * t72)) - 1) * t78) * t78),
  t91 = 1 + ((((1 / (t73 * t73)) - 1) * t79) * t79);
  out0[0] = t66;
  out0[1] = t67;
  out1[0] = t90;
  out1[1] = t91;
}

export function stretchCarry(a0, a1, out0, out1)
{
  const t0 = a0[0] / a1[0],
  t1 = a0[1] / a1[1],
  t5 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t12 = (t5 + 1e-30) / ((Math.sqrt((t0 * t0) + (t1 * t1))) + 1e-30),
  t13 = t0 * t12,
  t14 = t1 * t12;
  out0[0] = t13;
  out0[1] = t14;
  out1[0] = t12;
}

export function aroundThrough(a0, a1, a2, a3, a4, out0, out1)
{
  const t0 = a1[0] / 1.000001,
  t1 = Math.max(a1[0], 1.000001),
  t2 = t1 / a1[0],
  t3 = a0[0] * t2,
  t4 = a0[1] * t2,
  t6 = a4[0] - 1,
  t8 = Math.min((t1 - 1) / t6, 1),
  t9 = t8 < 1,
  t10 = a4[0] + 1,
  t17 = t9 ? ((t10 - (2 * t8)) / t6) : 1,
  t18 = (t9 ? (t8 * (t10 - t8)) : t1) / t1,
  t21 = a3[0] + (t18 * t3),
  t22 = a3[1] + (t18 * t4);
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
  const t6 = (((a1[6] - a1[5]) / a1[4]) / a1[6]) * ((a1[2] * a0[0]) + (a1[3] * a0[1])),
  t11 = (a0[0] - (t6 * a1[0])) / a1[5],
  t12 = (a0[1] - (t6 * a1[1])) / a1[5],
  t16 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t22 = (Math.sqrt((t11 * t11) + (t12 * t12))) + 1e-30,
  t23 = (t16 + 1e-30) / t22,
  t24 = t11 * t23,
  t25 = t12 * t23;
  out0[0] = t24;
  out0[1] = t25;
  out1[0] = t23;
}

export function aroundBrake(a0, a1, out0, out1)
{
  const t3 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t8 = Math.max(-((a1[2] * a0[0]) + (a1[3] * a0[1])), 0),
  t12 = Math.sqrt((a1[2] * a1[2]) + (a1[3] * a1[3])),
  t19 = Math.max(Math.min((1 - a1[7]) / 0.1, 1), 0),
  t21 = ((t3 * t12) * (a1[4] - 1)) / (t8 + 1e-30),
  t22 = Math.min(t21, 1),
  t26 = Math.sqrt((a1[0] * a1[0]) + (a1[1] * a1[1])),
  t28 = (t3 / t26) * t19,
  t29 = t28 * a1[0],
  t30 = t28 * a1[1];
  out0[0] = t22;
  out1[0] = t29;
  out1[1] = t30;
}

export function gaugeOf(a0, a1, a2, a3, out0, out1)
{
  const t2 = (a2[0] * a3[0]) + (a2[1] * a3[1]),
  t5 = (a2[2] * a3[0]) + (a2[3] * a3[1]),
  t6 = a0[0] - a1[0],
  t7 = a0[1] - a1[1],
  t10 = (a2[0] * t6) + (a2[1] * t7),
  t13 = (a2[2] * t6) + (a2[3] * t7),
  t17 = 1 - ((t10 * t10) + (t13 * t13)),
  t20 = (t10 * t2) + (t13 * t5),
  t26 = (t20 * t20) + (t17 * ((t2 * t2) + (t5 * t5))),
  t28 = (Math.sqrt(t26)) + 1e-30,
  t30 = (t20 + t28) / t17,
  t35 = ((t30 * t10) + t2) / t28,
  t36 = ((t30 * t13) + t5) / t28,
  t39 = (a2[0] * t35) + (a2[2] * t36),
  t42 = (a2[1] * t35) + (a2[3] * t36);
  out0[0] = t30;
  out1[0] = t39;
  out1[1] = t42;
}

export function joined(a0, a1, a2, a3, out0, out1)
{
  const t0 = Math.min(a0[0], a2[0]),
  t1 = t0 / a0[0],
  t2 = t1 * t1,
  t4 = t0 / a2[0],
  t5 = t4 * t4,
  t9 = t0 * (Math.pow((t2 * t2) + (t5 * t5), -0.25)),
  t10 = t9 / a0[0],
  t11 = t10 * t10,
  t13 = (t11 * t11) * t10,
  t16 = t9 / a2[0],
  t17 = t16 * t16,
  t19 = (t17 * t17) * t16,
  t22 = (t13 * a1[0]) + (t19 * a3[0]),
  t23 = (t13 * a1[1]) + (t19 * a3[1]);
  out0[0] = t9;
  out1[0] = t22;
  out1[1] = t23;
}

export function aside(a0, out0)
{
  const t3 = 0 < ((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t4 = t3 ? a0[0] : 1e-09,
  t5 = t3 ? a0[1] : 0;
  out0[0] = t4;
  out0[1] = t5;
}

export function affine(a0, a1, a2, out0, out1)
{
  const t6 = ((a1[0] * a0[0]) + (a1[1] * a0[1])) + a2[0],
  t7 = ((a1[2] * a0[0]) + (a1[3] * a0[1])) + a2[1];
  out0[0] = t6;
  out0[1] = t7;
  out1[0] = a1[0];
  out1[1] = a1[1];
  out1[2] = a1[2];
  out1[3] = a1[3];
}

export function nudged(a0, a1, a2, a3, a4, a5, out0, out1)
{
  const t2 = (a0[0] - a1[0]) / a3[0],
  t3 = (a0[1] - a1[1]) / a3[1],
  t8 = Math.exp(-0.5 * ((t2 * t2) + (t3 * t3))),
  t11 = (t8 * t2) / a3[0],
  t12 = (t8 * t3) / a3[1],
  t27 = a4[0] + ((a0[0] + (a2[0] * t8)) - a0[0]),
  t28 = a4[1] + ((a0[1] + (a2[1] * t8)) - a0[1]),
  t31 = a5[0] + ((1 - (a2[0] * t11)) - 1),
  t32 = a5[1] + (0 - (a2[0] * t12)),
  t33 = a5[2] + (0 - (a2[1] * t11)),
  t34 = a5[3] + ((1 - (a2[1] * t12)) - 1);
  out0[0] = t27;
  out0[1] = t28;
  out1[0] = t31;
  out1[1] = t32;
  out1[2] = t33;
  out1[3] = t34;
}

export function returning(a0, a1, a2, out0, out1)
{
  const t3 = Math.sqrt((a2[0] * a2[0]) + (a2[1] * a2[1])),
  t7 = Math.sqrt((a0[0] * a0[0]) + (a0[1] * a0[1])),
  t9 = t3 / (t7 + 1e-30),
  t12 = a1[0] * (Math.max(1 - t9, 0)),
  t15 = Math.max(t9, 1),
  t18 = (t12 * a0[0]) + (a2[0] / t15),
  t19 = (t12 * a0[1]) + (a2[1] / t15);
  out0[0] = t18;
  out0[1] = t19;
  out1[0] = t12;
}

export function withinInverse(a0, a1, a2, a3, a4, out0)
{
  const t12 = Math.max(((a1[0] + a3[0]) - a0[0]) / a3[0], 0),
  t13 = Math.max(((a1[1] + a3[1]) - a0[1]) / a3[1], 0),
  t14 = Math.max((a0[0] - (a2[0] - a3[2])) / a3[2], 0),
  t15 = Math.max((a0[1] - (a2[1] - a3[3])) / a3[3], 0),
  t20 = Math.exp(Math.max(-t12, -13.815510557964274)),
  t21 = Math.exp(Math.max(-t13, -13.815510557964274)),
  t34 = Math.exp(Math.max(-t14, -13.815510557964274)),
  t35 = Math.exp(Math.max(-t15, -13.815510557964274)),
  t42 = (a0[0] - (a3[0] * ((1 - t20) - t12))) + (a3[2] * ((1 - t34) - t14)),
  t43 = (a0[1] - (a3[1] * ((1 - t21) - t13))) + (a3[3] * ((1 - t35) - t15));
  out0[0] = t42;
  out0[1] = t43;
}

export function stretchInverse(a0, a1, a2, a3, a4, out0)
{
  const t0 = 1 - a4[0],
  t1 = a4[0] / t0,
  t2 = Math.pow(t0, -2),
  t15 = Math.max(((a1[0] + a3[0]) - a0[0]) / a3[0], 0),
  t16 = Math.max(((a1[1] + a3[1]) - a0[1]) / a3[1], 0),
  t17 = Math.max((a0[0] - (a2[0] - a3[2])) / a3[2], 0),
  t18 = Math.max((a0[1] - (a2[1] - a3[3])) / a3[3], 0),
  t23 = (Math.max(t15 - t1, 0)) / t0,
  t24 = (Math.max(t16 - t1, 0)) / t0,
  t25 = t2 - t23,
  t26 = t2 - t24,
  t33 = Math.sqrt((t25 * t25) + (4 * t23)),
  t34 = Math.sqrt((t26 * t26) + (4 * t24)),
  t35 = 0 < t25,
  t36 = 0 < t26,
  t49 = t35 ? ((2 * t23) / (t35 ? (t25 + t33) : 1)) : (0.5 * (t33 - t25)),
  t50 = t36 ? ((2 * t24) / (t36 ? (t26 + t34) : 1)) : (0.5 * (t34 - t26)),
  t61 = (t15 < t1) ? (t15 / (1 + t15)) : (a4[0] + (t0 * t49)),
  t62 = (t16 < t1) ? (t16 / (1 + t16)) : (a4[0] + (t0 * t50)),
  t73 = (Math.max(t17 - t1, 0)) / t0,
  t74 = (Math.max(t18 - t1, 0)) / t0,
  t75 = t2 - t73,
  t76 = t2 - t74,
  t83 = Math.sqrt((t75 * t75) + (4 * t73)),
  t84 = Math.sqrt((t76 * t76) + (4 * t74)),
  t85 = 0 < t75,
  t86 = 0 < t76,
  t99 = t85 ? ((2 * t73) / (t85 ? (t75 + t83) : 1)) : (0.5 * (t83 - t75)),
  t100 = t86 ? ((2 * t74) / (t86 ? (t76 + t84) : 1)) : (0.5 * (t84 - t76)),
  t111 = (t17 < t1) ? (t17 / (1 + t17)) : (a4[0] + (t0 * t99)),
  t112 = (t18 < t1) ? (t18 / (1 + t18)) : (a4[0] + (t0 * t100)),
  t117 = (a0[0] - (a3[0] * (t61 - t15))) + (a3[2] * (t111 - t17)),
  t118 = (a0[1] - (a3[1] * (t62 - t16))) + (a3[3] * (t112 - t18));
  out0[0] = t117;
  out0[1] = t118;
}

export function product(a0, a1, out0)
{
  const t2 = (a0[0] * a1[0]) + (a0[1] * a1[2]),
  t5 = (a0[0] * a1[1]) + (a0[1] * a1[3]),
  t8 = (a0[2] * a1[0]) + (a0[3] * a1[2]),
  t11 = (a0[2] * a1[1]) + (a0[3] * a1[3]);
  out0[0] = t2;
  out0[1] = t5;
  out0[2] = t8;
  out0[3] = t11;
}

export function moved2(a0, a1, a2, a3, out0, out1, out2)
{
  const t0 = a0[0] * a0[0],
  t1 = a1[0] * a1[0],
  t2 = t0 * t1,
  t5 = 1 / (1 + (t2 * t2)),
  t7 = Math.tanh(a2[0] / 2),
  t13 = ((((-4 * (t0 * t0)) * t5) * t5) * t1) * a1[0],
  t14 = 2 * t7,
  t15 = a0[0] * a1[1],
  t19 = 1 / (Math.sqrt(1 + (t15 * t15))),
  t21 = (t5 * t14) * t19,
  t22 = Math.exp(t21),
  t23 = a1[1] * t22,
  t28 = t22 * (1 - (t21 * (1 - (t19 * t19)))),
  t29 = t23 * t19,
  t36 = (((t29 * t5) * (1 - (t7 * t7))) * a3[0]) + (t5 * a3[1]),
  t38 = t23 + (t5 * a2[1]),
  t42 = t36 + (((t29 * t14) + a2[1]) * t13);
  out0[0] = a1[0];
  out0[1] = t38;
  out1[0] = t28;
  out2[0] = t42;
}

export function pulled2(a0, a1, a2, out0)
{
  const t2 = (a2[1] - (a1[0] * a2[0])) / a0[0];
  out0[0] = a2[0];
  out0[1] = t2;
}

export function within2(a0, a1, out0)
{
  const t5 = (a0[0] * a0[0]) * (((a1[0] * a1[0]) + (a1[1] * a1[1])) / 2),
  t8 = 1 / (1 + (t5 * t5));
  out0[0] = t8;
}

export function braked2(a0, a1, a2, out0, out1)
{
  const t0 = a0[0] * a2[0],
  t1 = a0[1] * a2[1],
  t6 = Math.sqrt(((t0 * t0) + (t1 * t1)) + 1e-30),
  t7 = Math.max(t6, 1),
  t9 = (t6 / t7) / t7,
  t10 = t9 * t9,
  t11 = t10 * t10,
  t16 = 1 / (t7 * (Math.pow(1 + (t11 * t11), 0.125))),
  t19 = (a1[0] * t16) * a2[0],
  t20 = (a1[1] * t16) * a2[1];
  out0[0] = t19;
  out0[1] = t20;
  out1[0] = t16;
}

export function alone2(a0, a1, a2, a3, a4, out0)
{
  const t0 = a4[0] - a0[0],
  t1 = a4[1] - a0[1],
  t5 = (t0 * t0) + (t1 * t1),
  t6 = (a2[0] * a2[0]) * t5,
  t7 = t6 * t6,
  t10 = 1 / (1 + (t7 * t7)),
  t19 = t0 + (t10 * ((a3[0] * t0) + (a3[1] * t1))),
  t20 = t1 + (t10 * ((a3[2] * t0) + (a3[3] * t1))),
  t25 = (Math.sqrt(t5 + 1e-30)) + a1[0],
  t26 = (-t19) / t25,
  t27 = (-t20) / t25;
  out0[0] = t26;
  out0[1] = t27;
}

export function moved3(a0, a1, a2, a3, out0, out1, out2)
{
  const t0 = a0[0] * a0[0],
  t1 = a1[0] * a1[0],
  t2 = t0 * t1,
  t5 = 1 / (1 + (t2 * t2)),
  t8 = Math.tanh(a2[0] / 2),
  t9 = Math.tanh(a2[1] / 2),
  t15 = ((((-4 * (t0 * t0)) * t5) * t5) * t1) * a1[0],
  t16 = 2 * t8,
  t17 = 2 * t9,
  t18 = a0[0] * a1[1],
  t19 = a0[0] * a1[2],
  t26 = 1 / (Math.sqrt(1 + (t18 * t18))),
  t27 = 1 / (Math.sqrt(1 + (t19 * t19))),
  t30 = (t5 * t16) * t26,
  t31 = (t5 * t17) * t27,
  t32 = Math.exp(t30),
  t33 = Math.exp(t31),
  t34 = a1[1] * t32,
  t35 = a1[2] * t33,
  t44 = t32 * (1 - (t30 * (1 - (t26 * t26)))),
  t45 = t33 * (1 - (t31 * (1 - (t27 * t27)))),
  t46 = t34 * t26,
  t47 = t35 * t27,
  t60 = (((t46 * t5) * (1 - (t8 * t8))) * a3[0]) + (t5 * a3[2]),
  t61 = (((t47 * t5) * (1 - (t9 * t9))) * a3[1]) + (t5 * a3[3]),
  t64 = t34 + (t5 * a2[2]),
  t65 = t35 + (t5 * a2[3]),
  t72 = t60 + (((t46 * t16) + a2[2]) * t15),
  t73 = t61 + (((t47 * t17) + a2[3]) * t15);
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
  const t4 = (a2[1] - (a1[0] * a2[0])) / a0[0],
  t5 = (a2[2] - (a1[1] * a2[0])) / a0[1];
  out0[0] = a2[0];
  out0[1] = t4;
  out0[2] = t5;
}

export function within3(a0, a1, out0)
{
  const t5 = ((a1[0] * a1[0]) + (a1[1] * a1[1])) + (a1[2] * a1[2]),
  t7 = (a0[0] * a0[0]) * (t5 / 3),
  t10 = 1 / (1 + (t7 * t7));
  out0[0] = t10;
}

export function braked3(a0, a1, a2, out0, out1)
{
  const t0 = a0[0] * a2[0],
  t1 = a0[1] * a2[1],
  t2 = a0[2] * a2[2],
  t8 = (((t0 * t0) + (t1 * t1)) + (t2 * t2)) + 1e-30,
  t9 = Math.sqrt(t8),
  t10 = Math.max(t9, 1),
  t12 = (t9 / t10) / t10,
  t13 = t12 * t12,
  t14 = t13 * t13,
  t19 = 1 / (t10 * (Math.pow(1 + (t14 * t14), 0.125))),
  t23 = (a1[0] * t19) * a2[0],
  t24 = (a1[1] * t19) * a2[1],
  t25 = (a1[2] * t19) * a2[2];
  out0[0] = t23;
  out0[1] = t24;
  out0[2] = t25;
  out1[0] = t19;
}

export function alone3(a0, a1, a2, a3, a4, out0)
{
  const t0 = a4[0] - a0[0],
  t1 = a4[1] - a0[1],
  t2 = a4[2] - a0[2],
  t8 = ((t0 * t0) + (t1 * t1)) + (t2 * t2),
  t9 = (a2[0] * a2[0]) * t8,
  t10 = t9 * t9,
  t13 = 1 / (1 + (t10 * t10)),
  t18 = ((a3[0] * t0) + (a3[1] * t1)) + (a3[2] * t2),
  t23 = ((a3[3] * t0) + (a3[4] * t1)) + (a3[5] * t2),
  t28 = ((a3[6] * t0) + (a3[7] * t1)) + (a3[8] * t2),
  t40 = (Math.sqrt(t8 + 1e-30)) + a1[0],
  t41 = (-(t0 + (t13 * t18))) / t40,
  t42 = (-(t1 + (t13 * t23))) / t40,
  t43 = (-(t2 + (t13 * t28))) / t40;
  out0[0] = t41;
  out0[1] = t42;
  out0[2] = t43;
}
