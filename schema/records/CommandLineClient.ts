/** The OAuth client of the svc command line, which signs in with the device flow. */
export const cliClientId = "svc-cli"
