/**
 * Fingerprint of each released migration: SHA-256 of its statements as JSON. Only add entries for the new migrations of a
 * release: if a released statement changed, existing databases would differ from new databases.
 */
export const releasedMigrations: Readonly<Record<string, string>> = {
  "0001_initial": "e3fdea0f06a4d9e39b0d2f973bfda55deed47ed8d5d0ca9805fb4e8a5b5e09da",
  "0002_identity": "13524896dbda4d3967bc7032af1d78304dcc5de1de619025ab6e5d17fc2b93c3",
  "0003_build_archives": "80c0f65cf81746260b10633b9fea30d05fea30297dbb6a39b2995783579ac0d8",
  "0004_interfaces": "b47d00e1bdf503268724fb52700a2f70cd51f68aa82e060b331e71d531eb9af1",
  "0006_upstream_sign_in": "e4c47df740318650bdf4088250abbfe7a850b9d591288d3417e1583979785785",
  "0007_hook_secret_renewal": "d040d9c7b69ac4c0e04a0e6101d69fedb93b66ceaac33b3587c15afc0b53cd0d",
  "0008_plan_secrets": "fd5f359fead2bef8ba761dedf924fd5b4e0c673333e5103dd5e7ea43d1c7f248",
  "0009_state_secrets": "72eb15a61908d96e970999e67d8fca697bb79c2aeedb4521d8addb75ab85b02e",
  "0010_capsules_in_need": "e189706779c2873ac5290a22031273f5187cf930d1ff230ab48d8cf23ca60037",
  "0011_plan_consumption": "97fb70586be0bd34a8fd6fc50c9f0dd8ce2d424da5ae15bae91361733686dcf2",
  "0012_connection_origins": "ee19be8c3cd66c5bac1060b39814c8c7b3d5ce67a9d43cb9e1d62e2ff8834403",
  "0013_connection_use": "20296bbf7b4a5b2efdc30cb182dd6342af737bfcd9de5ac8711eeef65bcdcc51",
  "0014_run_confinement": "d07da139260f6022006bc455b34c8ded468db2f0c20ab836f66e5b18c5f5d262",
  "0015_fair_queue": "1d70b2d36f8391cc39d689f1f53bca80a90d0c6aadfe5277d6c2ef20f70d27cb",
  "0017_restored_installation": "fdf729e96b55be72d5519914bbfa620dbe775e9f606154fc9d6cd1e2f0a7e0b5",
  "0018_secret_rule": "d8ac9999459997a432532c052e4a2d6762606ff9ccd90c5c0d7b2e33efb54bf8",
  "0021_values_between_capsules": "dc761e26e1d0e352366fb35718679c7dbd793a615a3fc563d15857b51680241d",
  "0022_lanes": "6a0a0c44e16118009f5a3b22c347fc3795e3e95474c233efb653efe155c9fbeb",
  "0023_ways_out": "416068089d9c74e1b91feae615dfd4cdf80107da552cc10eb23ab8a5023fa0b2",
  "0024_provider_addresses": "1da03d3dcfba4ca30ae860b2331ae6c5f9bf315dad789c34980fc8c024bcbb71",
  "0025_run_profile": "1e08f3ceb5e2a906ed2aabec33473458ae668c8e909e739f4192b1db8f981c8e",
  "0026_connection_oauth": "32c41b2ed4edd1b938ba2ec27f874c685b5ab6e2b1948ecc6e143f835b2b811d",
  "0027_run_purpose": "9193f580ef9c8508ae929febeba1bcc73f04c5699e2d81fe7a5155e040e23200",
  "0028_drift_checks": "c9d7078fd6f412559d5b0be179721955b5a15e1fce58916e392048f95ffd7e33",
  "0029_path_filters": "cbc41930830e1fa83409adb231e713242b0e5b951bdb64d978c4ce0d876ae3f4"
}
