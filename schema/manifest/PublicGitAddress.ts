import { Schema } from "effect"
import { httpsOnly, normaliseAddress } from "../git/RepositoryAddress.ts"
import { maxAddressCharacters } from "../git/ServerAddress.ts"
import { fieldRule, lengthBetween } from "./FieldRule.ts"

/**
 * A public HTTPS address in a document, as written. Validation does not apply the operator's policy, which is not available
 * there.
 */
export const PublicGitAddress = Schema.String.check(
  lengthBetween(1, maxAddressCharacters),
  fieldRule({
    code: "invalid_url",
    expected:
      "an HTTPS Git URL such as https://git.example.com/team/repository, without credentials, query or fragment",
    holds: (text) => normaliseAddress(text, httpsOnly) !== undefined,
    published: { pattern: "^https://[^/?#@\\\\\\s]+/[^?#\\\\\\s]+$" }
  })
)
