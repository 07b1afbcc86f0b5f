import { Icon, type IconName } from "./Icon.tsx"

/** What a plan does to a resource, or only reads. */
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

/** The sign of a verb, in the colour around it; the word is beside it or in the label. */
export const VerbIcon = ({ verb }: { readonly verb: Verb }) => <Icon name={icons[verb]} />
