import { Clock, Duration, Effect } from "effect"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { Vault } from "../../../actors/base/vault/Vault.ts"
import { seeOther } from "./AuthorizationResponse.ts"
import type { Parameters } from "./Parameters.ts"

const marker = "svc_signed_in_after"
const purpose = "oidc-fresh-sign-in"
const markerGoodFor = Duration.minutes(15)

const signedText = (millis: number, parameters: Parameters) => `${millis}\n${parameters.encodeWithout(marker)}`

/**
 * Sends the person to sign in again and then back to this request, with a signed timestamp. A session that began after that
 * time is fresh. The signature covers the entire request, so the timestamp is invalid for any other request.
 */
export const toSignIn = Effect.fnUntraced(function* (path: string, parameters: Parameters) {
  const vault = yield* Vault
  const { issuer } = yield* IssuerSettings
  const millis = yield* Clock.currentTimeMillis
  const note = `${millis}.${yield* vault.mac(purpose, signedText(millis, parameters))}`
  const query = `${parameters.encodeWithout(marker)}&${marker}=${encodeURIComponent(note)}`
  return seeOther(`${issuer}/sign-in?return=${encodeURIComponent(`${path}?${query}`)}`)
})

/**
 * Returns the time at which the person was last sent to sign in for exactly this request, in milliseconds since the Unix epoch.
 */
export const sentToSignInAt = Effect.fnUntraced(function* (parameters: Parameters) {
  const vault = yield* Vault
  const [text = "", digest = ""] = parameters.get(marker)?.split(".") ?? []
  if (!/^[0-9]{1,15}$/.test(text)) return undefined
  const millis = Number(text)
  if (!(yield* vault.verifyMac(purpose, signedText(millis, parameters), digest))) return undefined
  const age = (yield* Clock.currentTimeMillis) - millis
  return age <= Duration.toMillis(markerGoodFor) ? millis : undefined
})
