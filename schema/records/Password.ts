/** Minimum length of a new password. The screens state it and the server enforces it; shorter passwords from earlier stay valid. */
export const shortestPassword = 12
