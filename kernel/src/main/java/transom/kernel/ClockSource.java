package transom.kernel;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The clock as a source: ticks that no row carries, in a column `t`; `beat` is true in rows that only move the
 * watermark. The Python clock shows the same.
 */
public final class ClockSource implements TableProvider {
    private static final StructType SCHEMA = new StructType(new StructField[] {
        new StructField("t", DataTypes.LongType, true, Metadata.empty()),
        new StructField("beat", DataTypes.BooleanType, true, Metadata.empty())
    });

    /** Spark makes one by its name. */
    public ClockSource() {}

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new ClockTable();
    }

    private static final class ClockTable implements Table, SupportsRead {
        @Override
        public String name() {
            return "transom_clock";
        }

        @Override
        @SuppressWarnings("deprecation")
        public StructType schema() {
            return SCHEMA;
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            ClockSetting setting = ClockSetting.of(options.get("setting"));
            return () -> new ClockScan(setting);
        }
    }

    private record ClockScan(ClockSetting setting) implements Scan {
        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        @Override
        public String description() {
            return "transom_clock " + setting;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new ClockStream(setting);
        }
    }
}
