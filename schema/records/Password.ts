/**
 * Minimum length of a new password. The screens show it, and the server enforces it. Shorter existing passwords remain
 * valid.
 */
export const shortestPassword = 12
