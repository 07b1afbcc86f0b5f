/** Where clients other than browsers send a session. Unlike a cookie, no browser adds it to a request of another site. */
export const sessionHeader = "x-svc-account-session"
