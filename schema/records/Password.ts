/** Minimum length of a new password, shown on screens and enforced by the server. Shorter existing passwords remain valid. */
export const shortestPassword = 12
