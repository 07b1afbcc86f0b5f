import { Context, type Duration } from "effect"

/** Where the issuer is, by configuration alone: never taken from a request. */
export class IssuerSettings extends Context.Service<
  IssuerSettings,
  {
    /** Public origin without a trailing slash, e.g. `https://svc.example.com`. */
    readonly issuer: string
    /**
     * For how long a refresh token that was used may be presented again, as long as its successor was not: 0 to 30 seconds,
     * for clients that lose answers. Zero (the default) takes every second use for theft.
     */
    readonly refreshReuseGrace: Duration.Duration
  }
>()("svc/identity/IssuerSettings") {}
