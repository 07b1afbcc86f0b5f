/**
 * The header in which clients other than browsers send a session. Unlike a cookie, it is never added by a browser to a cross-site
 * request.
 */
export const sessionHeader = "x-svc-account-session"
