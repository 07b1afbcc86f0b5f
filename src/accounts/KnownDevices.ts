import { Context, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Vault } from "../../actors/base/vault/Vault.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"

/** Maximum lifetime of a cookie. Browsers limit the lifetime to 400 days. */
const lifetime = Duration.days(400)

/** Maximum number of people to record for one browser. If there are more, only the most recent are kept. */
const maxSubjects = 4

const maxLength = 512
const idPattern = /^[0-9a-f]{32}$/
const tagPattern = /^[A-Za-z0-9_-]{16,128}$/

/**
 * A browser's random id, and a digest for each person who has signed in with this browser. Only this server can compute the
 * digests.
 */
interface Device {
  readonly id: string
  readonly tags: ReadonlyArray<string>
}

const parseDevice = (value: string | undefined): Device | undefined => {
  const [id = "", ...tags] = value === undefined || value.length > maxLength ? [] : value.split(".")
  return idPattern.test(id) &&
    tags.length > 0 &&
    tags.length <= maxSubjects &&
    tags.every((tag) => tagPattern.test(tag))
    ? { id, tags }
    : undefined
}

const cookieName = (baseUrl: string): string => (baseUrl.startsWith("https:") ? "__Host-svc_device" : "svc_device")

const tagText = (id: string, subject: string) => JSON.stringify([id, subject])

const macPurpose = "known-device"

/**
 * Uses a cookie to recognise browsers in which a person has signed in before. The cookie is not a credential: it only gives
 * the person a separate budget of sign-in attempts in that browser. The cookie does not reveal the person's identity, and
 * has no effect for other people.
 */
export class KnownDevices extends Context.Service<
  KnownDevices,
  {
    /** Returns the id of the requesting browser if this person has signed in with this browser before. */
    readonly recognise: (
      subject: string
    ) => Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
    /** Records that this person has used the browser that receives the response. */
    readonly remember: (
      response: HttpServerResponse.HttpServerResponse,
      subject: string
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
  }
>()("svc/src/accounts/KnownDevices") {
  static readonly layer = Layer.effect(
    KnownDevices,
    Effect.gen(function* () {
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const { baseUrl } = yield* HttpSettings
      const name = cookieName(baseUrl)
      const secure = baseUrl.startsWith("https:")
      const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure, maxAge: lifetime } as const

      const presented = Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => parseDevice(cookies[name]))

      return KnownDevices.of({
        recognise: Effect.fn("KnownDevices.recognise")(function* (subject) {
          const device = yield* presented
          if (device === undefined) return undefined
          const holds = yield* Effect.forEach(device.tags, (tag) =>
            vault.verifyMac(macPurpose, tagText(device.id, subject), tag)
          )
          return holds.includes(true) ? device.id : undefined
        }),
        remember: Effect.fn("KnownDevices.remember")(function* (response, subject) {
          const device = yield* presented
          const id = device?.id ?? Hex.encode(yield* random.randomBytes(16))
          const tag = yield* vault.mac(macPurpose, tagText(id, subject))
          const others = (device?.tags ?? []).filter((known) => known !== tag)
          const value = [id, tag, ...others].slice(0, maxSubjects + 1).join(".")
          return HttpServerResponse.setCookieUnsafe(response, name, value, attributes)
        })
      })
    })
  )
}
