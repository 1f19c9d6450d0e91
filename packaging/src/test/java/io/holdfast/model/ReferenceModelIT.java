package io.holdfast.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * A mount shows what the model allows. {@code packaging/e2e/model/run} does it for long; {@link
 * ReferenceModelTest} does it without a mount, many times as often.
 *
 * <p>Engines run one after the other, so jqwik would have the machine to itself, and rest most of
 * the time. Jupiter runs it beside other classes.
 */
class ReferenceModelIT {
  @Test
  void mount_randomOperations_showsWhatWasOrIs() {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectClass(MountModel.class))
            .filters(EngineFilter.includeEngines("jqwik"))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();

    LauncherFactory.create().execute(request, listener);

    TestExecutionSummary summary = listener.getSummary();
    StringWriter failures = new StringWriter();
    summary.printFailuresTo(new PrintWriter(failures, true));
    assertThat(summary.getTestsSucceededCount()).as("%s", failures).isEqualTo(1);
    assertThat(summary.getTotalFailureCount()).as("%s", failures).isZero();
  }
}
