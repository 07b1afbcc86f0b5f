/**
 * Formats a webhook secret as a GitLab signing token, which must be padded Base64 instead of Base64url. The secret bytes are the
 * same, so a webhook may use either form.
 */
export const signingTokenOf = (hookSecret: string): string =>
  `whsec_${hookSecret
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(Math.ceil(hookSecret.length / 4) * 4, "=")}`
