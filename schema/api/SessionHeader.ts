/**
 * The header in which clients other than browsers send a session. Unlike a cookie, this header is never added to a
 * cross-site request by a browser.
 */
export const sessionHeader = "x-svc-account-session"
