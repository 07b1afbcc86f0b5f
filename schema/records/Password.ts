/** Minimum length of a new password. The screens state it and the server enforces it; older passwords stay valid. */
export const shortestPassword = 12
