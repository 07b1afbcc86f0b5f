/** Minimum length of a new password, which screens show and the server enforces. Shorter existing passwords remain valid. */
export const shortestPassword = 12
