declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  /** The parts of the reference implementation that the differential test uses. The package ships no types. */
  export default class ReferenceProvider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
