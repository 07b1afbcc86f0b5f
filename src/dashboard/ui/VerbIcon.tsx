import { Icon, type IconName } from "./Icon.tsx"

/** The effect of a plan on a resource, even if it only reads it. */
export type Verb = "destroy" | "replace" | "forget" | "update" | "create" | "import" | "move" | "read" | "none"

const icons: Readonly<Record<Verb, IconName>> = {
  destroy: "minus",
  replace: "replace",
  forget: "forget",
  update: "update",
  create: "plus",
  import: "import",
  move: "move",
  read: "ring",
  none: "point"
}

/** A verb's sign, in the surrounding colour; the word itself is next to it or in the label. */
export const VerbIcon = ({ verb }: { readonly verb: Verb }) => <Icon name={icons[verb]} />
