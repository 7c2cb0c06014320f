/** For how many days refusals can be asked for, today included. Beside their answer, whose schema no bundle carries. */
export const maxRefusalDays = 30;
