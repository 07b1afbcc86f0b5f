import {
  CapsuleId,
  CompatibilityReportId,
  DependencyId,
  OutputShareId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  WorkspaceId
} from "../../schema/records/Ids.ts"

// Pads on the left, so that all ids have the same length and sort numerically.
const text = (name: string) => name.replaceAll(/[^a-z0-9]/g, "").padStart(20, "0")

/** Builds a well-formed id that contains a name. */
export const namedRun = (name: string | number) => RunId.make(`run_${text(String(name))}`)
export const namedCapsule = (name: string | number) => CapsuleId.make(`cap_${text(String(name))}`)
export const namedWorkspace = (name: string | number) => WorkspaceId.make(`ws_${text(String(name))}`)
export const namedSource = (name: string | number) => SourceId.make(`src_${text(String(name))}`)
export const namedSnapshot = (name: string | number) => SourceSnapshotId.make(`snap_${text(String(name))}`)
export const namedReport = (name: string | number) => CompatibilityReportId.make(`rep_${text(String(name))}`)
export const namedStateVersion = (name: string | number) => StateVersionId.make(`sv_${text(String(name))}`)
export const namedDependency = (name: string | number) => DependencyId.make(`dep_${text(String(name))}`)
export const namedShare = (name: string | number) => OutputShareId.make(`oshare_${text(String(name))}`)
