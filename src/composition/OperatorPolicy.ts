import { Clock, Context, Effect, FileSystem, Layer } from "effect"
import { InstallPolicy } from "../../actors/ledger/configuration/InstallConfigCompilation.ts"
import { OperatorConfigs } from "../../actors/ledger/configuration/OperatorConfigs.ts"
import { EndpointPolicy } from "../../actors/inputs/delivery/EndpointPolicy.ts"
import { ProvisioningRules, rulesContradiction } from "../../actors/access/member/ProvisioningRules.ts"
import { Prices } from "../../actors/ledger/run/CostEstimates.ts"
import { defaultOperatorPolicy } from "../../schema/manifest/OperatorPolicy.ts"
import type { Settings } from "../settings/Settings.ts"
import { oauthHelpers } from "./OAuthHelpers.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { type OperatorPolicyFile, readOperatorPolicy, type ReadPolicy } from "./OperatorPolicyFile.ts"

/** Policy of a server without a policy file. */
const none: ReadPolicy = { policy: {}, digest: "none" }

/** The result of a reload. */
export interface PolicyReload {
  readonly previousDigest: string
  readonly digest: string
  /** Changed parts of the file. */
  readonly changed: ReadonlyArray<string>
}

const parts = ["repositoryInstallUx", "profiles", "baseConfigs", "endpoints", "prices", "signIn"] as const

const changedParts = (before: OperatorPolicyFile, after: OperatorPolicyFile): ReadonlyArray<string> =>
  parts.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(after[part]))

/** The operator's current policy, and a method that reloads its file. */
export class PolicyInForce extends Context.Service<
  PolicyInForce,
  {
    /**
     * Reads the file and returns the changes, along with effects that apply them and undo them. Calling the method changes
     * nothing by itself. Returns `undefined` if the server has no policy file. Fails with `SettingsRefused` if the file is
     * invalid.
     */
    readonly reload: Effect.Effect<
      | { readonly change: PolicyReload; readonly apply: Effect.Effect<void>; readonly undo: Effect.Effect<void> }
      | undefined,
      SettingsRefused
    >
  }
>()("svc/src/composition/PolicyInForce") {}

/**
 * Loads the operator's policy from the policy file, if the settings specify one: ceilings, profiles, base configurations and
 * assignments.
 */
export const operatorPolicy = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { policyFile } = settings
      const readFile = Effect.fnUntraced(function* (file: string) {
        const read = yield* readOperatorPolicy(file)
        const contradiction = rulesContradiction(read.policy.signIn?.rules ?? [], settings.upstreamOidcTrust)
        if (contradiction === undefined) return read
        return yield* new SettingsRefused({ message: `The policy file ${file} is not valid. ${contradiction}` })
      })
      const start = policyFile === undefined ? none : yield* readFile(policyFile)
      const at = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())
      const inForce = { ...start, loadedAt: yield* at }

      const reload = Effect.gen(function* () {
        if (policyFile === undefined) return undefined
        const read = yield* readFile(policyFile)
        if (JSON.stringify(read.policy.oauthHelpers) !== JSON.stringify(inForce.policy.oauthHelpers)) {
          return yield* new SettingsRefused({
            message:
              "The policy file declares other oauthHelpers than before, and these are read with their secrets when the server starts. Start it again; nothing was changed."
          })
        }
        const loadedAt = yield* at
        const change = {
          previousDigest: inForce.digest,
          digest: read.digest,
          changed: changedParts(inForce.policy, read.policy)
        }
        const before = { ...inForce }
        const put = (policy: typeof inForce) => Effect.sync(() => void Object.assign(inForce, policy))
        return { change, apply: put({ ...read, loadedAt }), undo: put(before) }
      }).pipe(Effect.provideService(FileSystem.FileSystem, files))

      return Layer.mergeAll(
        Layer.succeed(PolicyInForce, { reload }),
        Layer.succeed(InstallPolicy, {
          get policy() {
            return { ...defaultOperatorPolicy, ...inForce.policy.repositoryInstallUx }
          }
        }),
        Layer.succeed(OperatorConfigs, {
          get profiles() {
            return inForce.policy.profiles ?? {}
          },
          get baseConfigs() {
            return inForce.policy.baseConfigs ?? []
          },
          get loadedAt() {
            return inForce.loadedAt
          }
        }),
        Layer.succeed(EndpointPolicy, {
          get endpoints() {
            return inForce.policy.endpoints ?? []
          }
        }),
        yield* oauthHelpers(start.policy.oauthHelpers ?? [], settings.gitAllowOrigins),
        Layer.succeed(ProvisioningRules, {
          get rules() {
            return inForce.policy.signIn?.rules
          }
        }),
        Layer.succeed(Prices, {
          get table() {
            return inForce.policy.prices
          }
        })
      )
    })
  )
