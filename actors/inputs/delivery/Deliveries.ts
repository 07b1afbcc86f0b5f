import { Context, Effect, Layer, type Redacted } from "effect"
import type { RunVariable } from "../../../runner/execution/RunJob.ts"
import type { CompiledRequirement } from "../../../schema/manifest/CompiledInstall.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import type { GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import { InterfaceConsumption } from "./InterfaceConsumption.ts"
import { acceptsDrift, type RunRow } from "../../ledger/run/RunRow.ts"
import { type DeliveredValues, deliveredVariables, introspectionShape, secretShapes } from "./DeliveredVariables.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"
import { RunDeliveries, type PinnedDeliveries, type ResolvedDeliveries } from "./RunDeliveries.ts"
import { Endpoints } from "./Endpoints.ts"
import { GeneratedSecrets, type SecretShape } from "./GeneratedSecrets.ts"
import { IdentityCapability } from "./IdentityCapability.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"

/** A Capsule and the configuration that its Run uses. */
export interface DeliverySubject {
  readonly capsule: GuardedCapsuleRow
  readonly requires: ReadonlyArray<CompiledRequirement>
  /** The inputs that the Run's commit declares. */
  readonly variables: ReadonlyArray<DeclaredVariable>
}

/** The values for a Run. `resolved` is stored with the plan once the plan is ready for review. */
export interface PlannedDeliveries {
  readonly variables: ReadonlyMap<string, RunVariable>
  readonly resolved: ResolvedDeliveries
}

const drift = refused(
  "delivery_drift",
  "What the host delivers to this Capsule is not what the plan was reviewed with: endpoint, identity, secrets, configuration or epoch have moved. Nothing was executed; plan again."
)

/**
 * Delivers the values that a configuration requires from the host. Values are resolved for the plan, pinned in a sealed row
 * of the plan, and compared again before the apply's tool starts. A missing, ambiguous or different value is an error.
 */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    /**
     * Resolves the variables that the host fills in, before a plan or drift check. A destroy uses the values of the last apply.
     */
    readonly resolve: (run: RunRow, subject: DeliverySubject) => Effect.Effect<PlannedDeliveries, DeliveryRefused>
    /** Resolves consumed Interfaces and pins everything, in the transaction that makes the plan ready for review. */
    readonly pin: (
      run: RunRow,
      subject: Pick<DeliverySubject, "capsule" | "requires">,
      resolved: ResolvedDeliveries
    ) => Effect.Effect<void, DeliveryRefused>
    /** Checks the plan's deliveries before an apply's tool starts, and returns its variables. */
    readonly verify: (
      run: RunRow,
      subject: DeliverySubject
    ) => Effect.Effect<ReadonlyMap<string, RunVariable>, DeliveryRefused>
    /** Returns the values of the last apply. Creates nothing, so it fails if a generated secret has been erased. */
    readonly lastGiven: (subject: DeliverySubject) => Effect.Effect<ReadonlyMap<string, RunVariable>, DeliveryRefused>
    /**
     * Activates pinned deliveries in the transaction that settles a successful apply. If deliveries cannot be activated,
     * returns them instead of failing, because a completed apply is never undone.
     */
    readonly applied: (run: RunRow, capsule: GuardedCapsuleRow) => Effect.Effect<ReadonlyArray<string>>
    /** Ends all deliveries in the transaction that settles a destroy. */
    readonly destroyed: (capsuleId: CapsuleId) => Effect.Effect<void>
    /** Like `destroyed`, in the transaction that releases a Capsule, but keeps generated secrets sealed. */
    readonly released: (capsuleId: CapsuleId) => Effect.Effect<void>
  }
>()("svc/actors/inputs/delivery/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const endpoints = yield* Endpoints
  const secrets = yield* GeneratedSecrets
  const identity = yield* IdentityCapability
  const sidecar = yield* RunDeliveries
  const consumption = yield* InterfaceConsumption

  const kindOf = (requires: ReadonlyArray<CompiledRequirement>, kind: CompiledRequirement["kind"]) =>
    requires.some((requirement) => requirement.kind === kind)

  const gathered = Effect.fnUntraced(function* (
    shapes: ReadonlyArray<SecretShape>,
    read: (shape: SecretShape) => Effect.Effect<Redacted.Redacted<string> | undefined>
  ) {
    const found = new Map<string, Redacted.Redacted<string>>()
    for (const shape of shapes) {
      const value = yield* read(shape)
      if (value === undefined) return yield* drift
      found.set(shape.target, value)
    }
    return found
  })

  const planned = Effect.fnUntraced(function* (
    { requires, variables }: DeliverySubject,
    resolved: ResolvedDeliveries,
    found: DeliveredValues["secrets"]
  ) {
    const { endpoint, identity } = resolved
    const delivered = yield* Effect.fromResult(
      deliveredVariables(requires, { endpoint, identity, secrets: found }, variables)
    )
    return { variables: delivered, resolved }
  })

  const fresh = Effect.fnUntraced(function* (run: RunRow, subject: DeliverySubject) {
    const { capsule, requires } = subject
    const endpoint = kindOf(requires, "http.endpoint") ? yield* endpoints.resolve(capsule) : undefined
    const values = !kindOf(requires, "identity.oidc")
      ? undefined
      : endpoint === undefined
        ? yield* refused("endpoint_not_available", "An OpenID identity needs an HTTP endpoint.")
        : yield* identity.pin(run.id, capsule.id, endpoint)
    const shapes = secretShapes(requires)
    const found = yield* gathered(shapes, (shape) => secrets.obtain(capsule, shape))
    const resolved = {
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(values === undefined ? {} : { identity: values }),
      secrets: shapes
    }
    return yield* planned(subject, resolved, found)
  })

  const resolve = Effect.fn("Deliveries.resolve")(function* (run: RunRow, subject: DeliverySubject) {
    const renews = run.type === "plan" && run.purpose !== acceptsDrift
    if (renews || subject.requires.length === 0) return yield* fresh(run, subject)
    const last = yield* sidecar.lastApplied(subject.capsule.id)
    if (last === undefined) return yield* fresh(run, subject)
    const { consumed: _, ...resolved } = last
    // The last apply may have used secrets that the configuration no longer requires. The current module receives only the
    // secrets that it requires.
    const shapes = secretShapes(subject.requires)
    const found = yield* gathered(shapes, (shape) => secrets.obtain(subject.capsule, shape))
    return yield* planned(subject, { ...resolved, secrets: shapes }, found)
  })

  const pin = Effect.fn("Deliveries.pin")(function* (
    run: RunRow,
    { capsule, requires }: Pick<DeliverySubject, "capsule" | "requires">,
    resolved: ResolvedDeliveries
  ) {
    if (requires.length === 0) return
    const consumed = run.type === "plan" ? yield* consumption.resolve(run, capsule, requires) : []
    yield* sidecar.save(run.id, capsule, { ...resolved, consumed })
  })

  /** Checks everything that may have changed between the review and the apply. */
  const reverify = Effect.fnUntraced(function* (planRunId: RunId, subject: DeliverySubject, pinned: PinnedDeliveries) {
    const { capsule, requires } = subject
    if (pinned.endpoint !== undefined) {
      const endpoint = yield* endpoints.resolve(capsule)
      if (canonicalJson({ ...endpoint }) !== canonicalJson(pinned.endpoint)) return yield* drift
    }
    if (pinned.identity !== undefined) yield* identity.check(planRunId, capsule.id)
    yield* consumption.check(capsule, requires, pinned.consumed)
  })

  const verify = Effect.fn("Deliveries.verify")(function* (run: RunRow, subject: DeliverySubject) {
    const { capsule, requires } = subject
    if (requires.length === 0) return new Map<string, RunVariable>()
    const planRunId = run.plan_run_id
    if (planRunId === null) return yield* drift
    const pinned = yield* sidecar.verified(planRunId, capsule)
    if (pinned === undefined) return yield* drift
    if (run.type === "apply") yield* reverify(planRunId, subject, pinned)
    const found = yield* gathered(pinned.secrets, (shape) => secrets.find(capsule, shape))
    return (yield* planned(subject, pinned, found)).variables
  })

  const lastGiven = Effect.fn("Deliveries.lastGiven")(function* (subject: DeliverySubject) {
    const last = yield* sidecar.lastApplied(subject.capsule.id)
    if (last === undefined) return new Map<string, RunVariable>()
    const found = yield* gathered(last.secrets, (shape) => secrets.find(subject.capsule, shape))
    return (yield* planned(subject, last, found)).variables
  })

  const released = Effect.fn("Deliveries.released")(function* (capsuleId: CapsuleId) {
    yield* consumption.release(capsuleId)
    yield* identity.retire(capsuleId)
  })

  return Deliveries.of({
    resolve,
    pin,
    verify,
    lastGiven,
    applied: Effect.fn("Deliveries.applied")(function* (run, capsule) {
      const planRunId = run.plan_run_id
      const pinned = yield* sidecar.verified(planRunId, capsule)
      yield* consumption.activate(capsule.id, pinned?.consumed ?? [])
      const shape = introspectionShape(pinned?.secrets ?? [])
      const secret = shape === undefined ? undefined : yield* secrets.find(capsule, shape)
      return yield* identity.register(planRunId, capsule.id, secret).pipe(
        Effect.as([]),
        Effect.catch(({ message }) => Effect.succeed([message]))
      )
    }),
    released,
    destroyed: Effect.fn("Deliveries.destroyed")(function* (capsuleId) {
      yield* released(capsuleId)
      yield* secrets.drop(capsuleId)
    })
  })
})
