/**
 * A webhook secret in the form in which GitLab accepts a signing token: Base64 with padding instead of Base64url. It is the same
 * secret, so a webhook may have either form.
 */
export const signingTokenOf = (hookSecret: string): string =>
  `whsec_${hookSecret
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(Math.ceil(hookSecret.length / 4) * 4, "=")}`
