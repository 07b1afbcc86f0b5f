declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  /** The reference implementation, as far as the differential test uses it. It ships no types. */
  export default class ReferenceProvider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
