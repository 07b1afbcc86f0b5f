import { Redacted, Result, Schema, SchemaTransformation } from "effect"
import { CredentialOrigin, isWithinOrigins } from "../../schema/records/CredentialOrigin.ts"
import { GitCredentialsWithheld } from "./GitError.ts"

const Wire = Schema.Struct({ authorization: Schema.String, origins: Schema.Array(CredentialOrigin) })

/**
 * Credentials for Git servers, and the only origins that may receive them. Only `authorizationFor` returns the secret, so no
 * code can send the secret without the origin check.
 */
export class GitCredentials {
  readonly origins: ReadonlyArray<CredentialOrigin>
  readonly #authorization: Redacted.Redacted<string>

  private constructor(authorization: Redacted.Redacted<string>, origins: ReadonlyArray<CredentialOrigin>) {
    this.#authorization = authorization
    this.origins = origins
  }

  static basic(
    pair: { readonly username: Redacted.Redacted<string>; readonly password: Redacted.Redacted<string> },
    origins: ReadonlyArray<CredentialOrigin>
  ): GitCredentials {
    const encoded = Buffer.from(`${Redacted.value(pair.username)}:${Redacted.value(pair.password)}`).toString("base64")
    return new GitCredentials(Redacted.make(`Basic ${encoded}`), origins)
  }

  static bearer(token: Redacted.Redacted<string>, origins: ReadonlyArray<CredentialOrigin>): GitCredentials {
    return new GitCredentials(Redacted.make(`Bearer ${Redacted.value(token)}`), origins)
  }

  /**
   * Returns the `Authorization` header for a request to one of the origins. Call it for every request, because a Source's
   * actual destination is not known in advance.
   */
  authorizationFor(requestUrl: string): Result.Result<Redacted.Redacted<string>, GitCredentialsWithheld> {
    const address = requestUrl.replace(/\?.*$/s, "")
    if (isWithinOrigins(this.origins, address)) return Result.succeed(this.#authorization)
    const allowed = this.origins.length === 0 ? "no origin yet" : this.origins.join(", ")
    return Result.fail(
      new GitCredentialsWithheld({
        message: `The credentials were not sent: they are for ${allowed}, and the repository is elsewhere. Choose a Connection for this server.`
      })
    )
  }

  /** Encodes the credentials for another process of this server, which checks the origins again. */
  static readonly Handed: Schema.Codec<GitCredentials, typeof Wire.Encoded> = Wire.pipe(
    Schema.decodeTo(
      Schema.declare((value): value is GitCredentials => value instanceof GitCredentials),
      SchemaTransformation.transform({
        decode: (wire) => new GitCredentials(Redacted.make(wire.authorization), wire.origins),
        encode: (credentials) => ({
          authorization: Redacted.value(credentials.#authorization),
          origins: credentials.origins
        })
      })
    )
  )
}
