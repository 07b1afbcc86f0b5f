/** The OAuth client for this product's command line, which signs in with the device flow. */
export const cliClientId = "svc-cli"
