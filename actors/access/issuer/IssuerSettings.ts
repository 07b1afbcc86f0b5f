import { Context, type Duration } from "effect"

/** The issuer's origin, from configuration only: never taken from a request. */
export class IssuerSettings extends Context.Service<
  IssuerSettings,
  {
    /** Public origin without a trailing slash, e.g. `https://svc.example.com`. */
    readonly issuer: string
    /**
     * The time in which a used refresh token may be presented again, while its successor is unused: 0 to 30 seconds, for clients
     * that lose responses. Zero (the default) treats every reuse as theft.
     */
    readonly refreshReuseGrace: Duration.Duration
  }
>()("svc/actors/access/issuer/IssuerSettings") {}
