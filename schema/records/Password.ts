/** The minimum length of a new password. The screens say so and the server enforces it; older passwords stay valid. */
export const shortestPassword = 12
