import type { Mutant } from "./Mutant.ts"

const resources = "test/actors/ledger/state/StateResources.test.ts"
const history = "test/actors/ledger/state/ResourceHistory.test.ts"
const historyFile = "actors/ledger/state/ResourceHistory.ts"
const hiddenKeys = "test/actors/ledger/state/HiddenKeys.test.ts"
const managed = "test/actors/commands/adoption/ManagedElsewhere.test.ts"
const deletion = "test/actors/upkeep/retention/RecordDeletion.test.ts"
const entriesFile = "actors/ledger/state/StateEntries.ts"
const indexFile = "actors/ledger/state/StateIndex.ts"
const readsFile = "actors/ledger/state/StateResources.ts"

/** Mutants of the StateVersion index: the data that it stores and returns, and the data that it must not store. */
export const stateIndexMutants: ReadonlyArray<Mutant> = [
  {
    name: "state index: an id that the state marks as sensitive",
    file: entriesFile,
    text: "object.id === undefined || object.isIdSensitive ||",
    broken: "object.id === undefined ||",
    test: resources
  },
  {
    name: "state index: an id that contains a secret",
    file: entriesFile,
    text: "secrets === undefined || secrets.some((secret) => isWithin(id, secret))",
    broken: "secrets === undefined",
    test: resources
  },
  {
    name: "state index: no id while the secrets are unknown",
    file: "actors/ledger/state/StateBacklog.ts",
    text: "row.sealed_secrets === null ? undefined :",
    broken: "row.sealed_secrets === null ? [] :",
    test: resources
  },
  {
    name: "state index: a moved object keeps its name",
    file: indexFile,
    text: "return row === undefined ? newOrigin(address) : originOf(row)",
    broken: "return newOrigin(address)",
    test: "test/actors/ledger/state/MovedHistory.test.ts"
  },
  {
    name: "state index: a new object at the address of a moved one",
    file: indexFile,
    text: "(taken.has(address) ? `${address} @${generation}` : address)",
    broken: "address",
    test: "test/actors/ledger/state/MovedHistory.test.ts"
  },
  {
    name: "state index: the address of a secret instance key",
    file: entriesFile,
    text: "indexed.shown(object.address)",
    broken: "object.address",
    test: hiddenKeys
  },
  {
    name: "state index: a key that became a secret",
    file: indexFile,
    text: "if (renamed.length === 0) return",
    broken: "return",
    test: hiddenKeys
  },
  {
    name: "state index: a key that was a secret",
    file: "actors/ledger/state/ShownAddresses.ts",
    text: "|| hiddenBefore.has(hidden)",
    broken: "",
    test: hiddenKeys
  },
  {
    name: "state index: every key while the secrets are unknown",
    file: "actors/ledger/state/ShownAddresses.ts",
    text: "secrets === undefined || found?.has(key)",
    broken: "found?.has(key)",
    test: hiddenKeys
  },
  {
    name: "state index: what does not change keeps its digests when its key is hidden",
    file: indexFile,
    text: "if (from !== undefined && shown(from) !== from)",
    broken: "if (from === undefined)",
    test: hiddenKeys
  },
  {
    name: "state index: the history of keys that are not checked yet",
    file: historyFile,
    text: "if (current.is_unchecked === 1) return",
    broken: "if (current.is_unchecked > 1) return",
    test: hiddenKeys
  },
  {
    name: "state index: earlier keys leave the write-ahead log",
    file: "actors/ledger/state/StateBacklog.ts",
    text: "yield* Effect.ignore((yield* DatabaseFile).checkpoint)",
    broken: "",
    test: "test/actors/ledger/state/SecretInstanceKeys.test.ts"
  },
  {
    name: "state index: a state waits for the check of earlier keys",
    file: indexFile,
    text: "i.generation IS NULL OR i.outcome = 'unchecked'",
    broken: "i.generation IS NULL",
    test: hiddenKeys
  },
  {
    name: "state index: equal values of two resources",
    file: entriesFile,
    text: "[origin, deposed, ...parts]",
    broken: "[...parts]",
    test: resources
  },
  {
    name: "state index: equal values of two Capsules",
    file: indexFile,
    text: "vault.mac(contentsPurpose, capsuleId)",
    broken: "vault.mac(contentsPurpose, workspaceId)",
    test: resources
  },
  {
    name: "state index: an id that became a secret",
    file: indexFile,
    text: "entry.objectId === null && row.object_id !== null",
    broken: "false",
    test: resources
  },
  {
    name: "state index: states of a Capsule are read in their order",
    file: indexFile,
    text: "|| !(yield* isNext(version))) return",
    broken: ") return",
    test: resources
  },
  {
    name: "state index: what stays is not stored again",
    file: indexFile,
    text: "[...entries].flatMap(([name, entry]) =>\n          same.has(name)",
    broken: "[...entries].flatMap(([name, entry]) =>\n          false && same.has(name)",
    test: resources
  },
  {
    name: "state index: nothing is listed of a state that is not read",
    file: readsFile,
    text: 'stateVersionId === undefined || current.outcome === "indexed"',
    broken: "true",
    test: resources
  },
  {
    name: "state index: the history of a resource is of its Capsule",
    file: historyFile,
    text: "WHERE v.capsule_id = ${capsuleId} AND v.deposed",
    broken: "WHERE v.deposed",
    test: history
  },
  {
    name: "state index: drift of an earlier state",
    file: historyFile,
    text: "AND base_state_generation = ${current_state_generation}",
    broken: "",
    test: history
  },
  {
    name: "state index: a resource that was gone was added again",
    file: historyFile,
    text: "older?.valid_to === valid_from",
    broken: "older !== undefined",
    test: history
  },
  {
    name: "state index: a resource that changed was not removed",
    file: historyFile,
    text: "valid_to !== newerFrom &&",
    broken: "",
    test: history
  },
  {
    name: "state index: a comparison stays within a Capsule",
    file: readsFile,
    text: "from !== undefined && base?.capsule_id !== to.capsule_id",
    broken: "from !== undefined && base === undefined",
    test: resources
  },
  {
    name: "state index: what is managed already is found in states that are not read",
    file: "actors/commands/adoption/ManagedElsewhere.ts",
    text: "keys.length === 0",
    broken: "keys.length >= 0",
    test: managed
  },
  {
    name: "state index: only what a Capsule manages now is managed",
    file: "actors/commands/adoption/ManagedElsewhere.ts",
    text: "AND r.valid_to IS NULL AND",
    broken: "AND",
    test: managed
  },
  {
    name: "state index: what another StateVersion contains stays",
    file: "actors/upkeep/retention/RecordDeletion.ts",
    text: 'AND NOT EXISTS (SELECT 1 FROM ${sql(records)} r WHERE ${has} AND NOT (${sql.in("r.id", ids)}))',
    broken: "",
    test: deletion
  },
  {
    name: "state index: a StateVersion goes after what it alone contains",
    file: "actors/upkeep/retention/RecordDeletion.ts",
    text: "kind.sharedParts !== undefined && left === 0",
    broken: "left < 0",
    test: deletion
  },
  {
    name: "state index: an id with the folder of a Run is not shown",
    file: "actors/ledger/state/StateEntries.ts",
    text: " || holdsRunFolder(object.id)",
    broken: "",
    test: "test/actors/ledger/state/StateResources.test.ts"
  },
  {
    name: "state index: an instance key with the folder of a Run is hidden",
    file: "actors/ledger/state/ShownAddresses.ts",
    text: "isSecret || holdsRunFolder(key)",
    broken: "isSecret",
    test: "test/actors/ledger/state/StateResources.test.ts"
  }
]
