import type { Mutant } from "./Mutant.ts"

const receipt = "test/actors/commands/adoption/StateReceipt.test.ts"
const adoption = "test/actors/commands/adoption/StateAdoption.test.ts"
const mismatch = "test/actors/commands/adoption/ModuleMismatch.test.ts"
const addresses = "test/runner/scan/ModuleAddresses.test.ts"
const uploadsFile = "actors/ledger/state/StateUploads.ts"
const conflictsFile = "actors/commands/adoption/StateConflicts.ts"
const mismatchFile = "actors/commands/adoption/ModuleMismatch.ts"
const adoptionFile = "actors/commands/adoption/StateAdoption.ts"
const addressesFile = "runner/scan/ModuleAddresses.ts"

/** Mutants of imported states: the first state of a Capsule, its single use, and the lifetime of an upload. */
export const adoptionMutants: ReadonlyArray<Mutant> = [
  {
    name: "adoption: one install an upload",
    file: uploadsFile,
    text: "AND install_plan_id IS NULL AND used_at IS NULL AND expires_at >",
    broken: "AND used_at IS NULL AND expires_at >",
    test: receipt
  },
  {
    name: "adoption: uploads of another Workspace",
    file: uploadsFile,
    text: "row === undefined || row.workspace_id !== workspaceId",
    broken: "row === undefined",
    test: receipt
  },
  {
    name: "adoption: the digest that was meant",
    file: uploadsFile,
    text: "if (row.sha256 !== sha256) {",
    broken: "if (sha256 === '') {",
    test: adoption
  },
  {
    name: "adoption: held uploads outlive their hour",
    file: uploadsFile,
    text: "WHERE used_at IS NULL AND install_plan_id IS NULL AND expires_at <=",
    broken: "WHERE used_at IS NULL AND expires_at <=",
    test: receipt
  },
  {
    name: "adoption: a used upload holds no state",
    file: uploadsFile,
    text: "{ state: null, sealed_secrets: null, used_at: yield* now }",
    broken: "{ used_at: yield* now }",
    test: adoption
  },
  {
    name: "adoption: an expired upload is taken by nobody",
    file: uploadsFile,
    text: "AND used_at IS NULL AND expires_at > ${yield* now} RETURNING id",
    broken: "AND used_at IS NULL RETURNING id",
    test: receipt
  },
  {
    name: "adoption: a lineage lives once",
    file: conflictsFile,
    text: "if (known !== undefined) return",
    broken: "if (known === null) return",
    test: receipt
  },
  {
    name: "adoption: a resource is managed once",
    file: conflictsFile,
    text: "return twice.length === 0 ? []",
    broken: "return twice.length >= 0 ? []",
    test: receipt
  },
  {
    name: "adoption: owners only",
    file: adoptionFile,
    text: 'role.value === "owner"',
    broken: 'role.value !== "viewer"',
    test: adoption
  },
  {
    name: "adoption: nothing is published before an apply",
    file: adoptionFile,
    text: "outputs: [],",
    broken: "outputs: state.outputs,",
    test: adoption
  },
  {
    name: "adoption: exactly the typed addresses",
    file: mismatchFile,
    text: "!typed.has(address)",
    broken: "![...typed].some((one) => address.startsWith(one))",
    test: mismatch
  },
  {
    name: "adoption: providers of the module",
    file: mismatchFile,
    text: "&& !known.has(provider)",
    broken: "&& known.size === 0",
    test: mismatch
  },
  {
    name: "adoption: a move needs a target",
    file: addressesFile,
    text: "covers(from, address) && isCovered(movedTo(from, to, address), movesLeft - 1)",
    broken: "covers(from, address)",
    test: addresses
  },
  {
    name: "adoption: the tool of the plan",
    file: "actors/running/execution/RunPreparation.ts",
    text: "if (unfitState !== undefined) return",
    broken: "if (unfitState === '') return",
    test: receipt
  },
  {
    name: "adoption: a failed install gives its upload back",
    file: "actors/commands/install-plan/InstallPlanStore.ts",
    text: "uploads.release(id)",
    broken: "Effect.void",
    test: adoption
  },
  {
    name: "adoption: the old backend",
    file: "actors/running/execution/PlanSettlement.ts",
    text: "...takenOverWarning(base, capsule),",
    broken: "",
    test: adoption
  },
  {
    name: "adoption: a secret instance key in the reasons against a state",
    file: "actors/commands/adoption/ModuleMismatch.ts",
    text: ".map(shown)\n    .filter",
    broken: ".filter",
    test: "test/actors/ledger/state/SecretInstanceKeys.test.ts"
  },
  {
    name: "adoption: the secret inputs of the install hide instance keys",
    file: adoptionFile,
    text: "sensitive ? values[name] : undefined",
    broken: "sensitive ? undefined : undefined",
    test: "test/actors/ledger/state/SecretInstanceKeys.test.ts"
  }
]
