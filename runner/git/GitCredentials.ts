import { Redacted } from "effect"

/** How to sign in to a Git server. */
export type GitCredentials =
  | {
      readonly kind: "basic"
      readonly username: Redacted.Redacted<string>
      readonly password: Redacted.Redacted<string>
    }
  | { readonly kind: "bearer"; readonly token: Redacted.Redacted<string> }

/** The value of the `Authorization` header. */
export const authorizationHeader = (credentials: GitCredentials): Redacted.Redacted<string> => {
  if (credentials.kind === "bearer") return Redacted.make(`Bearer ${Redacted.value(credentials.token)}`)
  const pair = `${Redacted.value(credentials.username)}:${Redacted.value(credentials.password)}`
  return Redacted.make(`Basic ${Buffer.from(pair).toString("base64")}`)
}
