import { useQuery } from "@tanstack/react-query"
import type { OptionalFamily } from "../../../schema/api/ExtensionFamily.ts"
import { familiesOffQuery } from "../api/FamilyQueries.ts"

/**
 * Returns true if the server offers an optional family. Returns false until this is known. If the list cannot be read, the
 * family counts as available, and the server refuses the family's requests if it is disabled.
 */
export const useOffers = (family: OptionalFamily): boolean => {
  const { data, isPending } = useQuery(familiesOffQuery)
  return !isPending && data?.includes(family) !== true
}
