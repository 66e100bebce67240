//! Numbers of cases of the property tests.

use proptest::prelude::ProptestConfig;

/// Settings of a property test. `weight` says how many cases it gets relative to other tests: one of weight 200 gets `ESKER_CASES`,
/// or 32 if that is not set.
pub(crate) fn of(weight: u32) -> ProptestConfig {
    let cases_of_200 = match std::env::var("ESKER_CASES") {
        Ok(cases) => cases.parse().expect("ESKER_CASES is a number"),
        Err(_) => 32,
    };
    let cases = u64::from(weight) * cases_of_200 / 200;
    ProptestConfig::with_cases((cases as u32).max(8))
}
