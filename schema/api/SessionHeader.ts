/**
 * The header in which clients other than browsers send a session. Unlike a cookie, browsers never add it to a cross-site request.
 */
export const sessionHeader = "x-svc-account-session"
