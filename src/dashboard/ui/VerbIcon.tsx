import { Icon, type IconName } from "./Icon.tsx"

/** The effect of a plan on a resource, including reads. */
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

/** The icon of a verb in the surrounding colour. The word itself follows or is in the label. */
export const VerbIcon = ({ verb }: { readonly verb: Verb }) => <Icon name={icons[verb]} />
