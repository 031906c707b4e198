import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

/**
 * One node of OpenSearch on the loopback interface, from the jars of Maven Central: OpenSearchNode FOLDER PORT. Once it
 * answers, it writes its port to FOLDER/http.port. It ends when its standard input does, so it never outlives its parent.
 */
public class OpenSearchNode extends Node {
  private static final List<String> PLUGINS = List.of("transport.Netty4", "analysis.common.CommonAnalysis",
      "index.mapper.MapperExtras", "index.reindex.Reindex", "geo.Geo", "painless.Painless");

  OpenSearchNode(org.opensearch.env.Environment environment, Collection plugins) {
    super(environment, plugins, false);
  }

  /** In OpenSearch 3 the names of modules end with ModulePlugin, before that with Plugin. */
  private static Class<?> plugin(String name) throws ClassNotFoundException {
    try {
      return Class.forName("org.opensearch." + name + "ModulePlugin");
    } catch (ClassNotFoundException error) {
      return Class.forName("org.opensearch." + name + "Plugin");
    }
  }

  private static List<Object> plugins() throws ClassNotFoundException {
    List<Object> all = new ArrayList<>();
    for (String name : PLUGINS) {
      Class<?> type = plugin(name);
      String of = type.getName();
      // The constructor takes classes in OpenSearch 2, descriptions of plugins in OpenSearch 3.
      all.add(Version.CURRENT.major < 3 ? type
          : new PluginInfo(of, "classpath", "NA", Version.CURRENT, "17", of, null, List.of(), false));
    }
    return all;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path port = folder.resolve("http.port");
    Settings settings = Settings.builder()
        .put("path.home", folder).put("path.data", folder.resolve("data")).put("path.logs", folder.resolve("logs"))
        .put("cluster.name", "cellport-tests").put("node.name", "one").put("discovery.type", "single-node")
        .put("network.host", "127.0.0.1").put("http.port", arguments[1]).put("transport.port", "0")
        .put("http.type", "netty4").put("transport.type", "netty4")
        .put("cluster.routing.allocation.disk.threshold_enabled", false).build();
    Node node = new OpenSearchNode(
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), folder.resolve("config"), () -> "one"), plugins());
    // The constructor has locked the folder: the file is of a process that has ended.
    Files.deleteIfExists(port);
    node.start();
    int bound = node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress().getPort();
    Path written = Files.writeString(folder.resolve("http.port.new"), String.valueOf(bound));
    Files.move(written, port, StandardCopyOption.ATOMIC_MOVE);
    while (System.in.read() >= 0) { }
    node.close();
    System.exit(0);
  }
}
