import { Redacted } from "effect"
import { type ClientAuth, ClientSecretBasic, ClientSecretPost } from "openid-client"

/** Method by which a client sends its secret. */
export type SecretMethod = "client_secret_basic" | "client_secret_post"

/**
 * Authenticates with a client secret: by the declared method, or else by a method that the server supports. Uses basic
 * authentication if the server lists none (OpenID Connect Discovery 3, RFC 8414 2).
 */
export const secretAuthentication = (secret: Redacted.Redacted, chosen?: SecretMethod): ClientAuth => {
  const basic = ClientSecretBasic(Redacted.value(secret))
  const post = ClientSecretPost(Redacted.value(secret))
  return (server, client, body, headers) => {
    const known = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    const method = chosen ?? (known.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post")
    const authenticate = method === "client_secret_basic" ? basic : post
    authenticate(server, client, body, headers)
  }
}
