package io.holdfast.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.holdfast.fs.memory.Bounds;
import io.holdfast.fs.memory.CapacityRules;
import io.holdfast.fs.memory.Room;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.Source;
import io.holdfast.fs.units.Sizes;
import io.holdfast.peer.NodeAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.json.JsonMapper;

/** Renders the chart, and reads the result as Kubernetes does. */
class HelmChartTest {
  private static final Path CHART = Path.of("helm/holdfast").toAbsolutePath();
  private static final String SECRET = "peers.secret=sixteen-bytes-or-more";
  private static final JsonMapper MAPPER = new JsonMapper();
  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.of(
          "DaemonSet", DaemonSet.class,
          "Secret", Secret.class,
          "Service", Service.class,
          "ServiceMonitor", GenericKubernetesResource.class);

  private static List<HasMetadata> render(String... values) {
    TemplateCommand command = new Helm(CHART).template().withName("train").withNamespace("ml");
    for (String value : values) {
      int equals = value.indexOf('=');
      command.set(value.substring(0, equals), value.substring(equals + 1));
    }
    List<HasMetadata> all = new ArrayList<>();
    Load yaml = new Load(LoadSettings.builder().build());
    for (Object document : yaml.loadAllFromString(command.call())) {
      if (document instanceof Map<?, ?> map) {
        HasMetadata read = MAPPER.convertValue(map, KINDS.get(String.valueOf(map.get("kind"))));
        // fields that Kubernetes does not know would be lost here
        assertThat(yaml.loadFromString(MAPPER.writeValueAsString(MAPPER.valueToTree(read))))
            .isEqualTo(yaml.loadFromString(MAPPER.writeValueAsString(map)));
        // the test that renders another product's object checks all of it
        if (!(read instanceof GenericKubernetesResource)) {
          assertThat(Unknown.in(read)).isEmpty();
        }
        all.add(read);
      }
    }
    return all;
  }

  private static <T> T only(List<HasMetadata> all, Class<T> kind) {
    List<T> found = all.stream().filter(kind::isInstance).map(kind::cast).toList();
    assertThat(found).hasSize(1);
    return found.get(0);
  }

  /** Returns the file of the mount, as a pod has it. */
  private static String settings(List<HasMetadata> all) {
    return Objects.requireNonNull(
        only(all, DaemonSet.class)
            .getSpec()
            .getTemplate()
            .getMetadata()
            .getAnnotations()
            .get("holdfast/settings"));
  }

  @Test
  void chart_passesLint() {
    assertThat(new Helm(CHART).lint().strict().call().isFailed()).isFalse();
  }

  @Test
  void daemonSet_mountsForTheNode_withinMemoryThatFits() {
    List<HasMetadata> all = render("settings.capacity=512Gi", "overhead=4Gi");

    PodSpec pod = only(all, DaemonSet.class).getSpec().getTemplate().getSpec();
    Container container = pod.getContainers().get(0);
    VolumeMount mounts =
        container.getVolumeMounts().stream()
            .filter(one -> one.getName().equals("mounts"))
            .findFirst()
            .orElseThrow();
    assertThat(mounts.getMountPropagation()).isEqualTo("Bidirectional");
    assertThat(container.getSecurityContext().getPrivileged()).isTrue();
    Quantity limit = container.getResources().getLimits().get("memory");
    assertThat(limit).isEqualTo(container.getResources().getRequests().get("memory"));
    // 512 GiB, 2 GiB of page tables, 4 GiB, and three reserves of 4 GiB that stay free
    assertThat(limit).isEqualTo(new Quantity("542720Mi"));
    assertThat(container.getLivenessProbe().getExec().getCommand())
        .containsExactly("holdfast", "stats", "dataset", "--json");
    assertThat(settings(all))
        .contains("capacity: 524288M\n")
        .contains("memory: 529408M\n")
        .contains("mountpoint: \"/mnt/holdfast/dataset\"\n")
        .doesNotContain("peers");
    assertThat(all).hasSize(1);
  }

  /**
   * Residents grow only while three reserves are left, and nothing is admitted below two. The pod's
   * memory had 2,304 MiB beside a capacity of 64 GiB, which is less than two.
   */
  @ParameterizedTest
  @ValueSource(strings = {"1Gi", "4Gi", "26Gi", "64Gi", "72Gi", "400Gi", "2Ti"})
  void memory_leavesResidentsTheirRoom_whateverTheCapacity(String capacity) {
    List<HasMetadata> all = render("settings.capacity=" + capacity);

    DaemonSet set = only(all, DaemonSet.class);
    Container container = set.getSpec().getTemplate().getSpec().getContainers().get(0);
    long limit = bytes(container.getResources().getLimits().get("memory"));
    long reserves = 3 * new Room("the pod", limit, 0, 0).reserve();
    long residents = bytes(new Quantity(capacity));
    assertThat(limit - residents - residents / 256 - bytes(new Quantity("2Gi")))
        .isBetween(reserves, reserves + (1 << 20));
    Matcher ceiling = find("\nmemory: (\\d+M)\n", settings(all));
    long memory = Sizes.parse(ceiling.group(1));
    assertThat(limit - memory).isGreaterThanOrEqualTo(reserves);
    // page tables; heap, transit and the window; 300,000 files
    long besides = residents / 512 + (950L << 20) + 300_000 * 1_700L;
    assertThat(memory - residents).isGreaterThan(besides);
    // what the alert of limited residents looks at
    CapacityRules.Sight full =
        new CapacityRules.Sight(
            residents,
            besides,
            List.of(new Room("the pod", limit, limit - residents - besides, 0)));
    assertThat(
            new CapacityRules(Duration.ofMinutes(1))
                .next(
                    CapacityRules.State.first(residents, 0),
                    new Bounds(residents, memory, 0),
                    full,
                    1)
                .phase())
        .isEqualTo(CapacityRules.Phase.OK);
  }

  private static long bytes(Quantity quantity) {
    return Quantity.getAmountInBytes(quantity).longValueExact();
  }

  private static Matcher find(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher;
  }

  /**
   * The daemon refused the capacity: its ceiling was 80 % of the container's memory, by default.
   */
  @Test
  void containerOfTheRecipe_hasRoomForItsMount() throws IOException {
    String recipe = Files.readString(Path.of("container/Dockerfile"));
    long container = Sizes.parse(find(" --memory (\\d+g) --tmpfs", recipe).group(1));
    Matcher options = find(" --capacity (\\w+) --memory (\\w+) (/[a-z/]+) (/[a-z/]+)\n", recipe);
    long capacity = Sizes.parse(options.group(1));
    long memory = Sizes.parse(options.group(2));

    Settings settings =
        Settings.builder(
                new Source.Directory(Path.of(options.group(3))),
                Path.of(options.group(4)),
                container)
            .heapBytes(512 << 20)
            .set(SettingTable.CAPACITY, capacity)
            .set(SettingTable.MEMORY, memory)
            .build();

    assertThat(settings.room()).isGreaterThan(capacity);
    assertThat(container - memory)
        .isGreaterThan(3 * new Room("the container", container, 0, 0).reserve());
  }

  /** An upgrade took the dataset away under running jobs, on one node after the other. */
  @Test
  void update_waitsUntilAPodIsDeleted_unlessItIsToRoll() {
    assertThat(only(render(), DaemonSet.class).getSpec().getUpdateStrategy().getType())
        .isEqualTo("OnDelete");
    DaemonSet rolling = only(render("updateStrategy.type=RollingUpdate"), DaemonSet.class);
    assertThat(rolling.getSpec().getUpdateStrategy().getType()).isEqualTo("RollingUpdate");
  }

  /**
   * {@code helm upgrade --reuse-values} takes no defaults of the new chart: where the old chart had
   * no strategy, Kubernetes replaced one pod after the other.
   */
  @Test
  void update_valuesAreOfAChartWithoutAStrategy_waitsUntilAPodIsDeleted() {
    assertThat(
            only(render("updateStrategy=null"), DaemonSet.class)
                .getSpec()
                .getUpdateStrategy()
                .getType())
        .isEqualTo("OnDelete");
  }

  /**
   * A pod that an upgrade had not replaced read the new release's ConfigMap when its container
   * started again: a capacity that the old memory limit refused, or a mountpoint that no volume
   * had. An annotation goes with the pod.
   */
  @Test
  void settings_areThoseOfThePodItself() {
    List<HasMetadata> all = render("name=imagenet");

    PodSpec pod = only(all, DaemonSet.class).getSpec().getTemplate().getSpec();
    assertThat(pod.getVolumes()).allMatch(one -> one.getConfigMap() == null);
    assertThat(pod.getVolumes())
        .filteredOn(one -> one.getName().equals("settings"))
        .singleElement()
        .satisfies(
            one ->
                assertThat(one.getDownwardAPI().getItems())
                    .singleElement()
                    .satisfies(item -> assertThat(item.getPath()).isEqualTo("imagenet.yaml"))
                    .satisfies(
                        item ->
                            assertThat(item.getFieldRef().getFieldPath())
                                .isEqualTo("metadata.annotations['holdfast/settings']")));
    assertThat(pod.getContainers().get(0).getVolumeMounts())
        .filteredOn(one -> one.getName().equals("settings"))
        .singleElement()
        .satisfies(one -> assertThat(one.getMountPath()).isEqualTo("/etc/holdfast"));
    Load yaml = new Load(LoadSettings.builder().build());
    assertThat(yaml.loadFromString(settings(all)))
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsOnlyKeys("mountpoint", "capacity", "memory", "source");
  }

  /** In a pid namespace of its own the daemon gets 0 for each reader, and knows no job. */
  @Test
  void pod_seesTheProcessesOfItsNode_asTheRecipeDoes() {
    assertThat(only(render(), DaemonSet.class).getSpec().getTemplate().getSpec().getHostPID())
        .isTrue();
    assertThat(Path.of("container/Dockerfile")).content().contains(" --pid host ");
  }

  @Test
  void stateOfTheDaemon_isInMemory_andForRootAlone() {
    PodSpec pod = only(render(), DaemonSet.class).getSpec().getTemplate().getSpec();

    assertThat(pod.getVolumes())
        .filteredOn(one -> one.getName().equals("run"))
        .singleElement()
        .satisfies(one -> assertThat(one.getEmptyDir().getMedium()).isEqualTo("Memory"));
    for (Container each : List.of(pod.getInitContainers().get(0), pod.getContainers().get(0))) {
      assertThat(each.getVolumeMounts())
          .filteredOn(one -> one.getName().equals("run"))
          .singleElement()
          .satisfies(one -> assertThat(one.getMountPath()).isEqualTo("/run/holdfast"));
    }
    assertThat(pod.getInitContainers().get(0).getCommand())
        .anyMatch(word -> word.endsWith("chmod 755 /run/holdfast"));
    assertThat(Path.of("container/Dockerfile"))
        .content()
        .contains(" --tmpfs /run/holdfast:mode=755 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.7", "fd00::7"})
  void addressOfAPod_ofEitherKind_isUnderstood(String address) {
    List<String> arguments =
        arguments("peers.enabled=true", SECRET, "metrics.enabled=true").stream()
            .map(each -> each.replace("$(POD_IP)", address))
            .toList();
    NodeAddress listen = NodeAddress.parse(value(arguments, "--listen="));
    assertThat(listen).isEqualTo(new NodeAddress(address, 7070));
    assertThat(SettingTable.listensAt(value(arguments, "--metrics="), ""))
        .isEqualTo(new NodeAddress(address, 9464));
  }

  private static String value(List<String> arguments, String option) {
    return arguments.stream()
        .filter(each -> each.startsWith(option))
        .map(each -> each.substring(option.length()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void peers_findEachOtherByTheServiceAndShareASecret() {
    List<HasMetadata> all = render("peers.enabled=true", SECRET);

    Service service = only(all, Service.class);
    assertThat(service.getSpec().getClusterIP()).isEqualTo("None");
    assertThat(service.getSpec().getPublishNotReadyAddresses()).isTrue();
    DaemonSet set = only(all, DaemonSet.class);
    assertThat(set.getSpec().getTemplate().getMetadata().getLabels())
        .containsAllEntriesOf(service.getSpec().getSelector())
        .containsAllEntriesOf(set.getSpec().getSelector().getMatchLabels());
    assertThat(settings(all))
        .contains("peers: \"dns:" + service.getMetadata().getName() + ".ml.svc\"\n");
    assertThat(only(all, Secret.class).getStringData()).containsKey("secret");
    assertThat(set.getSpec().getTemplate().getSpec().getContainers().get(0).getArgs())
        .contains("--listen=[$(POD_IP)]:7070");
  }

  @Test
  void secret_ofTheUser_isTaken() {
    List<HasMetadata> all = render("peers.enabled=true", "peers.secretName=mine");
    assertThat(all).noneMatch(Secret.class::isInstance);
    assertThat(only(all, DaemonSet.class).getSpec().getTemplate().getSpec().getVolumes())
        .anyMatch(one -> one.getSecret() != null && one.getSecret().getSecretName().equals("mine"));
  }

  /** The commands made neither the namespace nor the secret, and the pods waited for both. */
  @Test
  void secret_ofTheDocument_isMadeBeforeThePodsTakeIt() throws IOException {
    String document = Files.readString(Path.of("docs/OPERATIONS.md"));
    Matcher made =
        find(
            "\nkubectl create namespace ml\n(?:.*\n)*? +kubectl --namespace ml create secret generic"
                + " (\\S+) --from-file=(\\w+)=/dev/stdin\n",
            document);
    Matcher install =
        find("\nhelm install imagenet \\S+ --namespace ml ((?:.*\\\\\n)+.*)\n", document);
    assertThat(made.end()).isLessThanOrEqualTo(install.start() + 1);

    List<HasMetadata> all =
        render(
            Pattern.compile("--set (\\S+)")
                .matcher(install.group(1))
                .results()
                .map(value -> value.group(1))
                .toArray(String[]::new));

    assertThat(volumes(all))
        .filteredOn(one -> one.getName().equals("secret"))
        .singleElement()
        .satisfies(one -> assertThat(one.getSecret().getSecretName()).isEqualTo(made.group(1)));
    assertThat(settings(all))
        .contains("\ncluster-secret-file: /etc/holdfast-secret/" + made.group(2) + "\n");
  }

  /** A pod of a source in S3 waited for ever for a directory of the chart's default. */
  @Test
  void sourceInS3_needsNoDirectoryOfTheNode() {
    List<HasMetadata> all = render("settings.source=s3://datasets/openimages");

    assertThat(volumes(all)).noneMatch(one -> one.getName().equals("source"));
    assertThat(
            only(all, DaemonSet.class)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .get(0)
                .getVolumeMounts())
        .noneMatch(one -> one.getName().equals("source"));
  }

  @Test
  void source_maySitBelowTheDirectoryOfTheNode() {
    assertThat(volumes(render("settings.source=/nfs/dataset/train")))
        .filteredOn(one -> one.getName().equals("source"))
        .singleElement()
        .satisfies(one -> assertThat(one.getHostPath().getPath()).isEqualTo("/nfs/dataset"));
  }

  private static List<Volume> volumes(List<HasMetadata> all) {
    return only(all, DaemonSet.class).getSpec().getTemplate().getSpec().getVolumes();
  }

  @Test
  void metrics_areAtAPort_thatAServiceMonitorNames() {
    List<HasMetadata> all =
        render(
            "metrics.enabled=true",
            "metrics.serviceMonitor.enabled=true",
            "metrics.serviceMonitor.labels.release=prometheus",
            "imagePullSecrets[0]=registry");

    PodSpec pod = only(all, DaemonSet.class).getSpec().getTemplate().getSpec();
    assertThat(pod.getImagePullSecrets())
        .singleElement()
        .satisfies(one -> assertThat(one.getName()).isEqualTo("registry"));
    Container container = pod.getContainers().get(0);
    assertThat(container.getArgs()).contains("--metrics=[$(POD_IP)]:9464");
    assertThat(container.getEnv()).anyMatch(one -> one.getName().equals("POD_IP"));
    assertThat(container.getPorts())
        .singleElement()
        .satisfies(port -> assertThat(port.getName()).isEqualTo("metrics"))
        .satisfies(port -> assertThat(port.getContainerPort()).isEqualTo(9464));
    Service service = only(all, Service.class);
    assertThat(service.getSpec().getPorts()).hasSize(1);
    GenericKubernetesResource monitor = only(all, GenericKubernetesResource.class);
    assertThat(monitor.getMetadata().getLabels()).containsEntry("release", "prometheus");
    assertThat(monitor.getApiVersion()).isEqualTo("monitoring.coreos.com/v1");
    assertThat(monitor.getAdditionalProperties())
        .isEqualTo(
            Map.of(
                "spec",
                Map.of(
                    "jobLabel",
                    "app.kubernetes.io/name",
                    "selector",
                    Map.of("matchLabels", service.getMetadata().getLabels()),
                    "endpoints",
                    List.of(
                        Map.of(
                            "port",
                            service.getSpec().getPorts().get(0).getName(),
                            "interval",
                            "30s")))));
    assertThat(service.getMetadata().getLabels())
        .containsEntry("app.kubernetes.io/name", "holdfast");
  }

  @Test
  void page_isAtAPortOfThePodAlone_ifItIsWanted() {
    assertThat(arguments("page.enabled=true", "page.port=9999")).contains("--page=9999");
    assertThat(arguments()).noneMatch(each -> each.startsWith("--page"));
  }

  private static List<String> arguments(String... values) {
    DaemonSet set = only(render(values), DaemonSet.class);
    return set.getSpec().getTemplate().getSpec().getContainers().get(0).getArgs();
  }

  @Test
  void image_hasOneNameAndTag_inRecipeChartAndDocuments() throws IOException {
    Map<?, ?> chart = yaml(CHART.resolve("Chart.yaml"));
    Object repository =
        Objects.requireNonNull(image(yaml(CHART.resolve("values.yaml")))).get("repository");
    String image = repository + ":" + chart.get("appVersion");

    PodSpec pod = only(render(), DaemonSet.class).getSpec().getTemplate().getSpec();
    assertThat(pod.getContainers()).allMatch(one -> one.getImage().equals(image));
    assertThat(pod.getInitContainers()).allMatch(one -> one.getImage().equals(image));
    assertThat(Path.of("container/Dockerfile"))
        .content()
        .contains("-t " + image + " .\n")
        .containsPattern("(?m)^#   " + image + " --capacity");
    assertThat(Path.of("docs/OPERATIONS.md"))
        .content()
        .contains("docker build -f packaging/container/Dockerfile -t " + image + " .\n");
    assertThat(Path.of("pom.xml")).content().contains("<version>" + chart.get("appVersion"));
  }

  private static Map<?, ?> yaml(Path file) throws IOException {
    Load yaml = new Load(LoadSettings.builder().build());
    return (Map<?, ?>) Objects.requireNonNull(yaml.loadFromString(Files.readString(file)));
  }

  private static Map<?, ?> image(Map<?, ?> values) {
    return (Map<?, ?>) Objects.requireNonNull(values.get("image"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "settings.capacity=64X",
        "settings.source=relative",
        "settings.mountpoint=/x",
        "mountpoint=/top",
        "mountpoint=/mnt/holdfast/dataset/",
        "mountpoint=/nfs/dataset",
        "mountpoint=/nfs/./dataset",
        "mountpoint=/nfs/dataset/seen",
        "mountpoint=/nfs/seen settings.source=/nfs/seen/raw hostSource=/nfs/seen/raw",
        "settings.source=/nfs/other",
        "hostSource=/nfs/data",
        "hostSource=",
        "nonsense=1",
        "peers.port=70000",
        "metrics.port=0",
        "settings.metrics=9464",
        "metrics.serviceMonitor.enabled=true",
        "updateStrategy.type=Recreate",
        "peers.enabled=true"
      })
  void value_thatCannotBe_isRefused(String value) {
    assertThatThrownBy(() -> render(value.split(" ", -1))).hasMessageContaining(key(value));
  }

  private static String key(String value) {
    String path = value.substring(0, value.indexOf('='));
    return path.equals("peers.enabled") ? "peers.secret" : path.substring(path.indexOf('.') + 1);
  }
}
