/** The OAuth client that the command line of this product is: it signs in by the device flow. */
export const cliClientId = "svc-cli"
