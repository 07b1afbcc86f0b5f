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

/** The icon for a verb, in the text colour. The verb itself follows the icon or is part of the label. */
export const VerbIcon = ({ verb }: { readonly verb: Verb }) => <Icon name={icons[verb]} />
