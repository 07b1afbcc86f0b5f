import { Context, type Duration } from "effect"

/** The origin of the issuer. It comes from the configuration, never from a request. */
export class IssuerSettings extends Context.Service<
  IssuerSettings,
  {
    /** Public origin without a trailing slash, such as `https://svc.example.com`. */
    readonly issuer: string
    /**
     * The time during which a used refresh token is accepted again while its successor is unused: 0 to 30 seconds, for clients
     * that lose responses. If it is zero (the default), every reuse is treated as theft.
     */
    readonly refreshReuseGrace: Duration.Duration
  }
>()("svc/actors/access/issuer/IssuerSettings") {}
