import type { ManagedObject } from "../../../runner/execution/StateFile.ts"

/** Resources of these providers exist only in a state, and many share an id: the id of every `random_password` is `none`. */
const statelessProviders: ReadonlySet<string> = new Set([
  "terraform.io/builtin/terraform",
  ...["archive", "external", "http", "local", "null", "random", "template", "time", "tls"].map(
    (name) => `hashicorp/${name}`
  )
])

/** The identity of a real object: its provider, type and id. `undefined` for anything that is not an object or has no id. */
export const objectKey = ({
  id,
  provider,
  type
}: Pick<ManagedObject, "id" | "provider" | "type">): string | undefined =>
  id === undefined || id === "" || statelessProviders.has(provider) ? undefined : `${provider} ${type} ${id}`
