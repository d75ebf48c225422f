import java.util.concurrent.CountDownLatch;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/**
 * One OpenSearch node with k-NN on 127.0.0.1. Arguments: the folder of its data, its HTTP port, the cluster's name.
 *
 * The runner's own main class accepts HTTP ports up to 9299 only and ends without a word when the node fails to start.
 */
public final class LoopbackNode {
    public static void main(String[] arguments) throws InterruptedException {
        OpenSearchRunner runner = new OpenSearchRunner();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(runner)));
        try {
            start(runner, arguments[0], Integer.parseInt(arguments[1]), arguments[2]);
        } catch (RuntimeException | Error failure) {
            failure.printStackTrace();
            System.exit(1);
        }
        new CountDownLatch(1).await();
    }

    private static void start(OpenSearchRunner runner, String folder, int port, String cluster) {
        runner.setMaxHttpPort(-1);
        runner.onBuild((node, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", port);
            // The data is small and temporary: a nearly full disk must not turn the indexes read-only.
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
            // As template.yaml deploys it: what a role may do hangs on the path, and no body may name another index.
            settings.put("rest.action.multi.allow_explicit_index", false);
        });
        runner.build(OpenSearchRunner.newConfigs()
                .basePath(folder)
                .numOfNode(1)
                .clusterName(cluster)
                .pluginTypes("org.opensearch.knn.plugin.KNNPlugin"));
    }

    private static void close(OpenSearchRunner runner) {
        try {
            runner.close();
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }

    private LoopbackNode() {
    }
}
