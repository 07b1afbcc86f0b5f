/** Characters that a new password must have. The screens say so and the server holds to it; older passwords stay valid. */
export const shortestPassword = 12
