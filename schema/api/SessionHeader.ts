/**
 * The header in which clients other than browsers send a session. Browsers never add it to a cross-site request, unlike a cookie.
 */
export const sessionHeader = "x-svc-account-session"
