/**
 * A webhook secret as a signing token for GitLab, which requires Base64 with padding instead of Base64url. The secret is the
 * same, so a webhook may use either form.
 */
export const signingTokenOf = (hookSecret: string): string =>
  `whsec_${hookSecret
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(Math.ceil(hookSecret.length / 4) * 4, "=")}`
